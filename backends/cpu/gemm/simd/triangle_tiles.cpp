/// The triangle is packed into strips of rows, and the lines into strips that stay in L2. In a strip of lines row after
/// row of tiles gets its results, in an order in which every tile finds what it reads. So a line is read and written
/// once, whatever its order in memory, and nothing is copied but the operands.
///
/// A system that is solved backwards is one that is solved forwards when rows and columns are counted from the last
/// one. A packed strip of rows turns round as a whole, since its numbers follow each other as they are read.

#include "triangle_tiles.hpp"

#include <algorithm>
#include <new>

#include <tessera/backend/out_of_memory.hpp>

#include "cpu/gemm/common/blocking.hpp"
#include "cpu/gemm/common/microkernel.hpp"
#include "cpu/memory/scratch.hpp"

namespace tessera::cpu {
namespace {

template <class T>
class TriangleInTiles {
 public:
  TriangleInTiles(CpuExecutor& cpu, const TriangleTilesCall& call, const MicroKernel<T>& kernel)
      : call_(call),
        kernel_(kernel),
        team_(cpu.team()),
        tile_m_(kernel.tile_m),
        tile_n_(kernel.tile_n),
        is_lower_((call.m.part == MatrixPart::Lower) != call.m.is_transposed),
        is_turned_(!is_lower_ && call.task == TriangleTask::Solve),
        strips_m_(ceil_div(call.n, tile_m_)),
        strips_n_(ceil_div(call.count, tile_n_)),
        rows_(strips_m_ * tile_m_) {
    const double work = static_cast<double>(call.n) * static_cast<double>(call.n) * static_cast<double>(call.count) / 2;
    threads_ = threads_for(work, cpu.threads_for(call.threads));
    // The strips of lines that a task computes share L2 with the triangle's strip, which each of them reads.
    constexpr Index least_strips = 4;
    const Index in_cache = l2_bytes_of(cpu.capabilities()) * 2 / 5 / (strip_size() * static_cast<Index>(sizeof(T)));
    const Index for_a_thread = ceil_div(strips_n_, Index{threads_});
    at_once_ = std::min({strips_n_, std::max(least_strips, in_cache), for_a_thread});
    threads_ = static_cast<int>(std::min<Index>(threads_, tasks()));
    Carver size;
    carve(size);
    scratch_ = cpu.scratch().acquire(size.used());
    Carver arrays(scratch_.data());
    carve(arrays);
  }

  void run() {
    if (shares_triangle())
      team_.run(strips_m_, threads_, [this](Index task, int) {
        const Index strip = is_upper_product() ? task : strips_m_ - 1 - task; // long ones first
        pack_triangle(strip, triangle_ + begin_of(strip));
      });
    team_.run(tasks(), threads_, [this](Index task, int slot) {
      compute(task * at_once_, std::min(strips_n_, (task + 1) * at_once_), slot);
    });
  }

 private:
  Index tasks() const { return ceil_div(strips_n_, at_once_); }
  /// A single task packs each strip just before it reads it.
  bool shares_triangle() const { return tasks() > 1; }
  bool is_upper_product() const { return !is_lower_ && call_.task == TriangleTask::Multiply; }
  Index strip_size() const { return rows_ * tile_n_; } ///< of a strip of lines
  /// Returns how many steps of k a strip of the triangle has: up to its block on the diagonal, or from it on.
  Index steps_of(Index strip) const { return is_upper_product() ? rows_ - strip * tile_m_ : (strip + 1) * tile_m_; }
  /// Returns where a strip of the triangle begins.
  Index begin_of(Index strip) const {
    const Index before = strip * (strip + 1) / 2; // blocks of tile_m² numbers in the strips before it
    return tile_m_ * tile_m_ * (is_upper_product() ? strip * (strips_m_ + 1) - before : before);
  }

  void carve(Carver& carver) {
    const Index longest = rows_ * tile_m_;
    triangle_ = carver.take<T>(static_cast<std::size_t>(shares_triangle() ? begin_of(strips_m_) : longest));
    lines_ = carver.take<T>(static_cast<std::size_t>(threads_ * at_once_ * strip_size()));
  }

  /// Packs a strip of rows, from the first column to the block on the diagonal or from that block on. Rows beyond the
  /// last one have ones on the diagonal, by which a system divides.
  void pack_triangle(Index strip, T* to) const {
    const StoredOperand& m = call_.m;
    const Index first = strip * tile_m_, rows = std::min(tile_m_, call_.n - first);
    Lines<T> lines{.data = static_cast<const T*>(m.data),
                   .count = call_.n,
                   .line_step = m.is_transposed ? 1 : m.ld,
                   .k_step = m.is_transposed ? m.ld : 1,
                   .shape = is_lower_ ? Shape::UpToLine : Shape::FromLine,
                   .has_unit_diagonal = m.has_unit_diagonal};
    if (is_upper_product()) return kernel_.pack_a(lines, strip, strip + 1, first, call_.n - first, to);
    const Index steps = first + rows;
    if (is_lower_) {
      kernel_.pack_a(lines, strip, strip + 1, 0, steps, to);
    } else {
      const Index top = call_.n - steps; // the strip is the first one of the rows and columns from here on
      lines.data += top * (lines.line_step + lines.k_step);
      lines.count = rows;
      kernel_.pack_a(lines, 0, 1, 0, steps, to);
      std::reverse(to, to + steps * tile_m_);
      // Rows that the strip lacks were packed as its last ones, and are now the first of each step.
      const Index lacking = tile_m_ - rows;
      if (lacking > 0) std::copy(to + lacking, to + steps * tile_m_, to);
    }
    for (Index r = rows; r < tile_m_; ++r) {
      for (Index p = first; p < steps; ++p) to[p * tile_m_ + r] = T(0);
      T* const step = to + (first + r) * tile_m_;
      std::fill(step, step + tile_m_, T(0));
      step[r] = T(1);
    }
  }

  /// Packs a strip of lines. Numbers beyond the last one are zeros.
  void pack_lines(Index strip, T* to) const {
    const Lines<T> lines{.data = static_cast<const T*>(call_.x),
                         .count = call_.count,
                         .line_step = call_.line_step,
                         .k_step = call_.number_step};
    kernel_.pack_b(lines, strip, strip + 1, 0, call_.n, to);
    std::fill(to + call_.n * tile_n_, to + strip_size(), T(0));
    if (is_turned_) turn_round(to);
    if (call_.task == TriangleTask::Solve) scale(to);
  }

  /// Copies a strip's results to their lines.
  void unpack_lines(Index strip, T* from) const {
    if (is_turned_) turn_round(from);
    if (call_.task == TriangleTask::Multiply) scale(from);
    const Index first = strip * tile_n_, count = std::min(tile_n_, call_.count - first);
    T* to = static_cast<T*>(call_.x) + first * call_.line_step;
    if (call_.line_step != 1) {
      kernel_.transpose(static_cast<int>(call_.n), static_cast<int>(count), from, tile_n_, to, call_.line_step);
      return;
    }
    for (Index i = 0; i < call_.n; ++i, to += call_.number_step, from += tile_n_) std::copy(from, from + count, to);
  }

  void scale(T* strip) const {
    if (call_.alpha == 1.0) return;
    const T alpha = static_cast<T>(call_.alpha);
    for (Index i = 0; i < call_.n * tile_n_; ++i) strip[i] *= alpha;
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
      T* const rows = triangle_ + (shares_triangle() ? begin_of(strip) : 0);
      if (!shares_triangle()) pack_triangle(strip, rows);
      const Index next = descends ? strip - 1 : strip + 1;
      const bool has_next = shares_triangle() && i + 1 < strips_m_;
      compute_row(strip, end - first, lines, rows, has_next ? triangle_ + begin_of(next) : nullptr,
                  has_next ? steps_of(next) * tile_m_ : 0);
    }
    for (Index s = first; s < end; ++s) unpack_lines(s, lines + (s - first) * strip_size());
  }

  /// Computes a row of tiles. The strip of rows that follows comes from L3 or memory: the tiles prefetch its `ahead`
  /// numbers, each a part of it.
  void compute_row(Index strip, Index strips, T* lines, const T* rows, const T* next, Index ahead) const {
    const Index first = strip * tile_m_, after = std::max<Index>(0, call_.n - first - tile_m_);
    const int diagonal = static_cast<int>(std::min(tile_m_, call_.n - first));
    for (Index s = 0; s < strips; ++s, lines += strip_size()) {
      const Index part = s * (is_upper_product() ? after : first) * (prefetch_bytes / static_cast<Index>(sizeof(T)));
      const T* const prefetch = part < ahead ? next + part : rows;
      if (call_.task == TriangleTask::Solve)
        kernel_.solve(first, rows, lines, prefetch);
      else if (is_lower_)
        kernel_.multiply_lower(first, rows, lines, prefetch);
      else
        kernel_.multiply_upper(diagonal, after, rows, lines + first * tile_n_, prefetch);
    }
  }

  const TriangleTilesCall& call_;
  const MicroKernel<T>& kernel_;
  Team& team_;
  Index tile_m_, tile_n_;
  bool is_lower_;
  bool is_turned_;            ///< numbers are counted from the last one
  Index strips_m_, strips_n_; ///< of the triangle's rows, and of lines
  Index rows_;                ///< of a strip of lines
  int threads_;
  Index at_once_; ///< strips of lines that a task computes
  Scratch scratch_;
  T* triangle_ = nullptr; ///< all strips, or room for one
  T* lines_ = nullptr;    ///< for each slot a task's strips
};

template <class T>
Status run(CpuExecutor& cpu, const TriangleTilesCall& call) {
  const MicroKernel<T>& kernel = micro_kernel<T>(cpu.isa());
  if (2 * call.count < kernel.tile_n) return {StatusCode::Rejected, "products suit a triangle that meets few lines"};
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
