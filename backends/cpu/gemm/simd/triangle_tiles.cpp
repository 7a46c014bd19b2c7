/// The triangle is packed into strips of rows, and the lines into strips that stay in L2. In a strip of lines row after
/// row of tiles gets its results, in an order in which every tile finds what it reads. So a line is read and written
/// once, whatever its order in memory, and nothing is copied but the operands.
///
/// A system that is solved backwards is one that is solved forwards when rows and columns are counted from the last
/// one. A packed strip of rows turns round as a whole, since its numbers follow each other as they are read.

#include "triangle_tiles.hpp"

#include <algorithm>
#include <memory>
#include <new>

#include <tessera/backend/out_of_memory.hpp>

#include "cpu/gemm/common/blocking.hpp"
#include "cpu/gemm/common/microkernel.hpp"
#include "cpu/memory/scratch.hpp"
#include "reference/elementwise/complex_number.hpp"
#include "reference/fma_clones.hpp"

namespace tessera::cpu {
namespace {

/// Multiplies numbers of a strip, `count` real parts and then as many imaginary ones, by alpha.
template <class T>
[[gnu::always_inline]] inline void scale_row(const ComplexNumber<T>& alpha, Index count, T* row) {
  for (Index l = 0; l < count; ++l) {
    const ComplexNumber<T> x = scaled(alpha, {row[l], row[count + l]});
    row[l] = x.re;
    row[count + l] = x.im;
  }
}
TESSERA_FLAT_FMA_CLONES void scale_rows(const ComplexNumber<float>& alpha, Index rows, Index count, float* strip) {
  for (Index i = 0; i < rows; ++i) scale_row(alpha, count, strip + 2 * i * count);
}
TESSERA_FLAT_FMA_CLONES void scale_rows(const ComplexNumber<double>& alpha, Index rows, Index count, double* strip) {
  for (Index i = 0; i < rows; ++i) scale_row(alpha, count, strip + 2 * i * count);
}

/// Makes divisors of a diagonal's numbers, `step` elements apart.
template <class T>
[[gnu::always_inline]] inline void take_divisors(Index count, const T* number, Index step, bool is_conjugate,
                                                 ComplexDivisor<T>* divisors) {
  for (Index i = 0; i < count; ++i, number += step)
    new (divisors + i) ComplexDivisor<T>(number[0], is_conjugate ? -number[1] : number[1]);
}
TESSERA_FLAT_FMA_CLONES void divisors_of(Index count, const float* number, Index step, bool is_conjugate,
                                         ComplexDivisor<float>* divisors) {
  take_divisors(count, number, step, is_conjugate, divisors);
}
TESSERA_FLAT_FMA_CLONES void divisors_of(Index count, const double* number, Index step, bool is_conjugate,
                                         ComplexDivisor<double>* divisors) {
  take_divisors(count, number, step, is_conjugate, divisors);
}

template <class T>
class TriangleInTiles {
 public:
  TriangleInTiles(CpuExecutor& cpu, const TriangleTilesCall& call, const MicroKernel<T>& kernel)
      : call_(call),
        kernel_(kernel),
        team_(cpu.team()),
        parts_(kernel.parts),
        tile_m_(kernel.tile_m),
        tile_n_(kernel.tile_n),
        columns_(tile_n_ / parts_),
        step_(tile_m_ * parts_),
        needs_divisors_(call.is_complex && call.task == TriangleTask::Solve),
        is_lower_((call.m.part == MatrixPart::Lower) != call.m.is_transposed),
        is_turned_(!is_lower_ && call.task == TriangleTask::Solve),
        strips_m_(ceil_div(call.n, tile_m_)),
        strips_n_(ceil_div(call.count, columns_)),
        rows_(strips_m_ * tile_m_) {
    const double numbers = static_cast<double>(call.n) * static_cast<double>(call.n) * static_cast<double>(call.count);
    const double work = numbers * (call.is_complex ? 4 : 1) / 2;
    threads_ = threads_for(work, cpu.threads_for(call.threads));
    // The strips of lines that a task computes share L2 with the triangle's strip, which each of them reads.
    constexpr Index least_strips = 4;
    const Index in_cache = l2_bytes_of(cpu.capabilities()) * 2 / 5 / (strip_size() * static_cast<Index>(sizeof(T)));
    const Index for_a_thread = ceil_div(strips_n_, Index{threads_});
    at_once_ = std::min({strips_n_, std::max(least_strips, in_cache), for_a_thread});
    threads_ = static_cast<int>(std::min<Index>(threads_, tasks()));
    // Rows side by side are far apart from one step to the next, and each step brings whole cache lines.
    constexpr Index bytes_of_step = 256;
    if (call.m.is_transposed) packed_at_once_ = ceil_div(bytes_of_step, step_ * static_cast<Index>(sizeof(T)));
    Carver size;
    carve(size);
    scratch_ = cpu.scratch().acquire(size.used());
    Carver arrays(scratch_.data());
    carve(arrays);
  }

  void run() {
    if (needs_divisors_) find_divisors();
    if (shares_triangle()) {
      const Index groups = ceil_div(strips_m_, packed_at_once_);
      team_.run(groups, threads_, [&](Index task, int) {
        const Index first = (is_upper_product() ? task : groups - 1 - task) * packed_at_once_; // long ones first
        pack_triangle(first, std::min(first + packed_at_once_, strips_m_), triangle_ + first * longest());
      });
    }
    team_.run(tasks(), threads_, [this](Index task, int slot) {
      compute(task * at_once_, std::min(strips_n_, (task + 1) * at_once_), slot);
    });
  }

 private:
  Index tasks() const { return ceil_div(strips_n_, at_once_); }
  /// A single task packs strips of the triangle just before it reads them.
  bool shares_triangle() const { return tasks() > 1; }
  bool is_upper_product() const { return !is_lower_ && call_.task == TriangleTask::Multiply; }
  Index strip_size() const { return rows_ * tile_n_; } ///< of a strip of lines
  Index longest() const { return rows_ * step_; }      ///< strip of the triangle; they begin so far apart

  void carve(Carver& carver) {
    const Index strips = shares_triangle() ? strips_m_ : std::min(strips_m_, packed_at_once_);
    triangle_ = carver.take<T>(static_cast<std::size_t>(strips * longest()));
    lines_ = carver.take<T>(static_cast<std::size_t>(threads_ * at_once_ * strip_size()));
    if (needs_divisors_) divisors_ = carver.take<ComplexDivisor<T>>(static_cast<std::size_t>(rows_));
  }

  /// The divisors of rows that the triangle lacks are 1.
  void find_divisors() const {
    const StoredOperand& m = call_.m;
    const Index known = m.has_unit_diagonal ? 0 : call_.n, step = parts_ * (m.ld + 1);
    const T* const first = static_cast<const T*>(m.data) + (is_turned_ ? (call_.n - 1) * step : 0);
    divisors_of(known, first, is_turned_ ? -step : step, m.is_conjugate, divisors_);
    std::uninitialized_fill(divisors_ + known, divisors_ + rows_, ComplexDivisor<T>());
  }

  /// Returns the triangle from the diagonal's number `first` on, and `count` of its rows.
  Lines<T> triangle_from(Index first, Index count) const {
    const StoredOperand& m = call_.m;
    const Index line_step = m.is_transposed ? 1 : m.ld, k_step = m.is_transposed ? m.ld : 1;
    return {.data = static_cast<const T*>(m.data) + first * (line_step + k_step) * parts_,
            .count = count,
            .line_step = line_step,
            .k_step = k_step,
            .numbers = call_.is_complex ? Numbers::Pairs : Numbers::Real,
            .is_conjugate = call_.is_complex && m.is_conjugate,
            .shape = is_lower_ ? Shape::UpToLine : Shape::FromLine,
            .has_unit_diagonal = m.has_unit_diagonal};
  }
  /// Packs the numbers [k_first, k_first + k) of the rows of some strips.
  void pack_rows(const Lines<T>& lines, Index first, Index last, Index k_first, Index k, T* to) const {
    kernel_.pack_a(lines, first, last, k_first * parts_, k * parts_, to);
  }
  /// Packs columns that all rows of some strips have.
  void pack_rectangle(Lines<T> lines, Index first, Index last, Index k_first, Index k, T* to, Index strip_step) const {
    lines.shape = Shape::Whole;
    lines.strip_step = strip_step;
    if (k > 0) pack_rows(lines, first, last, k_first, k, to);
  }

  /// Packs the strips [first, last) of rows.
  void pack_triangle(Index first, Index last, T* to) const {
    const Index begin = first * tile_m_, end = std::min(last * tile_m_, call_.n);
    if (is_upper_product()) return pack_upper(triangle_from(begin, call_.n - begin), last - first, to, longest());
    if (is_lower_)
      pack_lower(first, last, to);
    else
      pack_turned(first, last, to);
    for (Index row = end; row < last * tile_m_; ++row) add_row_of_identity(row, to + (last - 1 - first) * longest());
  }

  /// Packs rows of a lower triangle up to their blocks on the diagonal.
  void pack_lower(Index first, Index last, T* to) const {
    const Lines<T> lines = triangle_from(0, call_.n);
    const Index begin = first * tile_m_;
    pack_rectangle(lines, first, last, 0, begin, to, longest());
    for (Index s = first; s < last; ++s, to += longest()) {
      const Index end = std::min((s + 1) * tile_m_, call_.n);
      pack_rows(lines, s, s + 1, begin, end - begin, to + begin * step_);
    }
  }

  /// Packs the first `strips` of the rows of an upper triangle, from their blocks on the diagonal on. `lines` are all
  /// rows.
  void pack_upper(const Lines<T>& lines, Index strips, T* to, Index strip_step) const {
    const Index n = lines.count, end = std::min(strips * tile_m_, n);
    pack_rectangle(lines, 0, strips, end, n - end, to + end * step_, strip_step - tile_m_ * step_);
    for (Index s = 0; s < strips; ++s, to += strip_step) {
      const Index begin = s * tile_m_;
      pack_rows(lines, s, s + 1, begin, end - begin, to);
    }
  }

  /// Packs rows of an upper triangle that are counted from the last one, with their columns in that order.
  void pack_turned(Index first, Index last, T* to) const {
    const Index rows = call_.n - (last - 1) * tile_m_; // left for the last strip
    if (rows < tile_m_) {
      // The strip's rows are packed as its first ones, and then are its last ones.
      T* const strip = to + (last - 1 - first) * longest();
      Lines<T> lines = triangle_from(0, rows);
      pack_rows(lines, 0, 1, 0, call_.n, strip);
      turn_rows(strip, call_.n);
      std::copy(strip + tile_m_ - rows, strip + call_.n * step_, strip);
      if (--last == first) return;
    }
    const Index top = call_.n - last * tile_m_, strips = last - first;
    pack_upper(triangle_from(top, call_.n - top), strips, to + (strips - 1) * longest(), -longest());
    for (Index s = first; s < last; ++s, to += longest()) turn_rows(to, (s + 1) * tile_m_);
  }
  /// Reverses the order of a strip's rows, and of the `count` numbers of each.
  void turn_rows(T* strip, Index count) const {
    std::reverse(strip, strip + count * step_);
    if (call_.is_complex) // real parts are now after the imaginary ones
      for (Index p = 0; p < count; ++p, strip += step_) std::swap_ranges(strip, strip + tile_m_, strip + tile_m_);
  }

  /// Makes a row that the triangle lacks one of the identity. `to` is the strip in which it would be, the last one.
  void add_row_of_identity(Index row, T* to) const {
    const Index first = (strips_m_ - 1) * tile_m_, r = row - first;
    for (Index p = first; p < row; ++p)
      for (Index part = 0; part < parts_; ++part) to[p * step_ + part * tile_m_ + r] = T(0);
    T* const step = to + row * step_;
    std::fill(step, step + step_, T(0));
    step[r] = T(1);
  }

  /// Packs a strip of lines. Numbers beyond the last one are zeros.
  void pack_lines(Index strip, T* to) const {
    const Lines<T> lines{.data = static_cast<const T*>(call_.x),
                         .count = call_.count,
                         .line_step = call_.line_step,
                         .k_step = call_.number_step,
                         .numbers = call_.is_complex ? Numbers::Pairs : Numbers::Real};
    kernel_.pack_b(lines, strip, strip + 1, 0, call_.n * parts_, to);
    std::fill(to + call_.n * tile_n_, to + strip_size(), T(0));
    if (is_turned_) turn_round(to);
    if (call_.task == TriangleTask::Solve) scale(to);
  }

  /// Copies a strip's results to their lines.
  void unpack_lines(Index strip, T* from) const {
    if (is_turned_) turn_round(from);
    if (call_.task == TriangleTask::Multiply) scale(from);
    const Index first = strip * columns_, count = std::min(columns_, call_.count - first);
    T* to = static_cast<T*>(call_.x) + first * call_.line_step * parts_;
    if (call_.line_step != 1) {
      kernel_.transpose(static_cast<int>(call_.n * parts_), static_cast<int>(count), from, columns_, to,
                        call_.line_step * parts_);
      return;
    }
    for (Index i = 0; i < call_.n; ++i, to += call_.number_step * parts_, from += tile_n_) {
      if (!call_.is_complex) {
        std::copy(from, from + count, to);
        continue;
      }
      for (Index l = 0; l < count; ++l) {
        to[2 * l] = from[l];
        to[2 * l + 1] = from[columns_ + l];
      }
    }
  }

  void scale(T* strip) const {
    if (call_.alpha == 1.0) return;
    const ComplexNumber<T> alpha{static_cast<T>(call_.alpha.real()), static_cast<T>(call_.alpha.imag())};
    if (call_.is_complex) return scale_rows(alpha, call_.n, columns_, strip);
    for (Index i = 0; i < call_.n * tile_n_; ++i) strip[i] *= alpha.re;
  }

  /// Reverses the order of a strip's numbers.
  void turn_round(T* strip) const {
    for (Index i = 0, last = call_.n - 1; i < last; ++i, --last)
      std::swap_ranges(strip + i * tile_n_, strip + (i + 1) * tile_n_, strip + last * tile_n_);
  }

  /// Computes the strips [first, end) of lines. A system begins with its first unknowns. A product overwrites a row
  /// after all that read it: the rows of a lower triangle from the last one on.
  void compute(Index first, Index end, int slot) const {
    T* const lines = lines_ + slot * at_once_ * strip_size();
    for (Index s = first; s < end; ++s) pack_lines(s, lines + (s - first) * strip_size());
    const bool descends = is_lower_ && call_.task == TriangleTask::Multiply;
    for (Index i = 0; i < strips_m_; ++i) {
      const Index strip = descends ? strips_m_ - 1 - i : i;
      const bool is_last = i + 1 == strips_m_;
      const T* next = nullptr;
      if (shares_triangle() && !is_last) next = triangle_ + (descends ? strip - 1 : strip + 1) * longest();
      compute_row(strip, end - first, lines, packed(strip, descends, i), next);
    }
    for (Index s = first; s < end; ++s) unpack_lines(s, lines + (s - first) * strip_size());
  }

  /// Returns a strip of the triangle, the i-th one that is read. Where tasks do not share strips, the first strip of a
  /// group packs the whole group.
  const T* packed(Index strip, bool descends, Index i) const {
    if (shares_triangle()) return triangle_ + strip * longest();
    const Index group = i / packed_at_once_ * packed_at_once_, in_group = std::min(packed_at_once_, strips_m_ - group);
    const Index first = descends ? strips_m_ - group - in_group : group;
    if (i == group) pack_triangle(first, first + in_group, triangle_);
    return triangle_ + (strip - first) * longest();
  }

  /// Computes a row of tiles. The strip of rows that follows comes from L3 or memory: each tile prefetches a part of
  /// it.
  void compute_row(Index strip, Index strips, T* lines, const T* rows, const T* next) const {
    const Index first = strip * tile_m_, after = std::max<Index>(0, call_.n - first - tile_m_);
    const int diagonal = static_cast<int>(std::min(tile_m_, call_.n - first));
    const Index steps = (is_upper_product() ? after : first) * parts_;
    const Index prefetched = steps * prefetch_bytes / static_cast<Index>(sizeof(T));
    const ComplexBlock<T> block{.lines_come_first = call_.lines_come_first,
                                .has_unit_diagonal = call_.m.has_unit_diagonal,
                                .divisors = needs_divisors_ ? divisors_ + first : nullptr};
    for (Index s = 0; s < strips; ++s, lines += strip_size()) {
      const T* const prefetch = next != nullptr && s * prefetched < longest() ? next + s * prefetched : rows;
      if (call_.task == TriangleTask::Solve)
        kernel_.solve(block, steps, rows, lines, prefetch);
      else if (is_lower_)
        kernel_.multiply_lower(block, steps, rows, lines, prefetch);
      else
        kernel_.multiply_upper(block, diagonal, steps, rows, lines + first * tile_n_, prefetch);
    }
  }

  const TriangleTilesCall& call_;
  const MicroKernel<T>& kernel_;
  Team& team_;
  Index parts_;           ///< of a number
  Index tile_m_, tile_n_; ///< the triangle's rows, and elements of a number of all lines, in a tile
  Index columns_;         ///< lines in a strip
  Index step_;            ///< elements of a number of all rows in a strip of the triangle
  bool needs_divisors_;   ///< the diagonal's numbers are complex divisors
  bool is_lower_;
  bool is_turned_;            ///< numbers are counted from the last one
  Index strips_m_, strips_n_; ///< of the triangle's rows, and of lines
  Index rows_;                ///< of a strip of lines
  int threads_;
  Index at_once_;            ///< strips of lines that a task computes
  Index packed_at_once_ = 1; ///< strips of the triangle
  Scratch scratch_;
  T* triangle_ = nullptr;                 ///< all strips, or room for one
  T* lines_ = nullptr;                    ///< for each slot a task's strips
  ComplexDivisor<T>* divisors_ = nullptr; ///< in the order of the unknowns
};

template <class T>
Status run(CpuExecutor& cpu, const TriangleTilesCall& call) {
  const MicroKernel<T>& of_real = micro_kernel<T>(cpu.isa());
  if (call.is_complex && of_real.of_complex == nullptr)
    return {StatusCode::Rejected, "this instruction set has no micro-kernel of complex numbers"};
  const MicroKernel<T>& kernel = call.is_complex ? *of_real.of_complex : of_real;
  if (2 * call.count * kernel.parts < kernel.tile_n)
    return {StatusCode::Rejected, "products suit a triangle that meets few lines"};
  TriangleInTiles<T>(cpu, call, kernel).run();
  return {};
}

} // namespace

Status triangle_in_tiles(CpuExecutor& cpu, const TriangleTilesCall& call) noexcept try {
  return call.type == DType::F32 ? run<float>(cpu, call) : run<double>(cpu, call);
} catch (const std::bad_alloc& error) {
  return out_of_memory(error);
}

} // namespace tessera::cpu
