/// The triangle is packed into strips of rows, and the lines into strips that stay in L2. A strip of lines begins as
/// right-hand sides, and row after row of tiles becomes unknowns, which the next tiles read. So a line is read and
/// written once, whatever its order in memory, and nothing is copied but the operands.
///
/// A system that is solved backwards is one that is solved forwards when rows and columns are counted from the last
/// one. A packed strip of rows turns round as a whole, since its numbers follow each other as they are read.

#include "triangular_system.hpp"

#include <algorithm>
#include <new>

#include <tessera/backend/out_of_memory.hpp>

#include "cpu/gemm/common/blocking.hpp"
#include "cpu/gemm/common/microkernel.hpp"
#include "cpu/memory/scratch.hpp"

namespace tessera::cpu {
namespace {

template <class T>
class TriangularSystem {
 public:
  TriangularSystem(CpuExecutor& cpu, const TriangularSystemCall& call, const MicroKernel<T>& kernel)
      : call_(call),
        kernel_(kernel),
        team_(cpu.team()),
        tile_m_(kernel.tile_m),
        tile_n_(kernel.tile_n),
        is_lower_((call.m.part == MatrixPart::Lower) != call.m.is_transposed),
        strips_m_(ceil_div(call.n, tile_m_)),
        strips_n_(ceil_div(call.count, tile_n_)),
        rows_(strips_m_ * tile_m_) {
    const double work = static_cast<double>(call.n) * static_cast<double>(call.n) * static_cast<double>(call.count) / 2;
    threads_ = threads_for(work, cpu.threads_for(call.threads));
    // The strips of lines that a task solves share L2 with the triangle's strip, which each of them reads.
    constexpr Index least_strips = 4;
    const Index in_cache = l2_bytes_of(cpu.capabilities()) * 2 / 5 / strip_bytes();
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
        const Index strip = strips_m_ - 1 - task; // long ones first
        pack_triangle(strip, triangle_ + begin_of(strip));
      });
    team_.run(tasks(), threads_, [this](Index task, int slot) {
      solve_lines(task * at_once_, std::min(strips_n_, (task + 1) * at_once_), slot);
    });
  }

 private:
  Index tasks() const { return ceil_div(strips_n_, at_once_); }
  /// A single task packs each strip just before it reads it.
  bool shares_triangle() const { return tasks() > 1; }
  Index strip_bytes() const { return rows_ * tile_n_ * static_cast<Index>(sizeof(T)); }
  /// Returns where a strip of the triangle begins, which has as many steps as there are rows up to its last one.
  Index begin_of(Index strip) const { return tile_m_ * tile_m_ * strip * (strip + 1) / 2; }

  void carve(Carver& carver) {
    const Index longest = rows_ * tile_m_;
    triangle_ = carver.take<T>(static_cast<std::size_t>(shares_triangle() ? begin_of(strips_m_) : longest));
    lines_ = carver.take<T>(static_cast<std::size_t>(threads_ * at_once_ * rows_ * tile_n_));
  }

  /// Packs a strip of rows from the first column to the block on the diagonal. Rows beyond the last one are those of
  /// the identity.
  void pack_triangle(Index strip, T* to) const {
    const StoredOperand& m = call_.m;
    const Index first = strip * tile_m_, end = first + tile_m_, rows = std::min(tile_m_, call_.n - first);
    Lines<T> lines{.data = static_cast<const T*>(m.data),
                   .count = call_.n,
                   .line_step = m.is_transposed ? 1 : m.ld,
                   .k_step = m.is_transposed ? m.ld : 1,
                   .shape = is_lower_ ? Shape::UpToLine : Shape::FromLine,
                   .has_unit_diagonal = m.has_unit_diagonal};
    if (is_lower_) {
      kernel_.pack_a(lines, strip, strip + 1, 0, first + rows, to);
    } else {
      // The strip is the one of the last rows of M without the rows below.
      const Index top = call_.n - first - rows;
      lines.data += top * (lines.line_step + lines.k_step);
      lines.count = rows;
      kernel_.pack_a(lines, 0, 1, 0, first + rows, to);
      std::reverse(to, to + (first + rows) * tile_m_);
      // Lines that the strip lacks were packed as its last ones, and are now the first of each step.
      if (const Index lacking = tile_m_ - rows; lacking > 0) std::copy(to + lacking, to + (first + rows) * tile_m_, to);
    }
    for (Index i = first + rows; i < end; ++i) {
      for (Index p = first; p < i; ++p) to[p * tile_m_ + i - first] = T(0);
      T* const step = to + i * tile_m_;
      std::fill(step, step + tile_m_, T(0));
      step[i - first] = T(1);
    }
  }

  /// Packs a strip of lines, which are multiplied by alpha. Numbers beyond the last one are zeros.
  void pack_lines(Index strip, T* to) const {
    const Lines<T> lines{.data = static_cast<const T*>(call_.x),
                         .count = call_.count,
                         .line_step = call_.line_step,
                         .k_step = call_.number_step};
    kernel_.pack_b(lines, strip, strip + 1, 0, call_.n, to);
    const Index count = call_.n * tile_n_;
    std::fill(to + count, to + rows_ * tile_n_, T(0));
    if (!is_lower_) turn_round(to);
    if (call_.alpha == 1.0) return;
    const T alpha = static_cast<T>(call_.alpha);
    for (Index i = 0; i < count; ++i) to[i] *= alpha;
  }

  /// Copies a strip's unknowns to their lines.
  void unpack_lines(Index strip, T* from) const {
    if (!is_lower_) turn_round(from);
    const Index first = strip * tile_n_, count = std::min(tile_n_, call_.count - first);
    T* to = static_cast<T*>(call_.x) + first * call_.line_step;
    if (call_.line_step != 1) {
      kernel_.transpose(static_cast<int>(call_.n), static_cast<int>(count), from, tile_n_, to, call_.line_step);
      return;
    }
    for (Index i = 0; i < call_.n; ++i, to += call_.number_step, from += tile_n_) std::copy(from, from + count, to);
  }

  /// Reverses the order of a strip's numbers.
  void turn_round(T* strip) const {
    for (Index i = 0, last = call_.n - 1; i < last; ++i, --last)
      std::swap_ranges(strip + i * tile_n_, strip + (i + 1) * tile_n_, strip + last * tile_n_);
  }

  void solve_lines(Index first, Index end, int slot) const {
    const Index size = rows_ * tile_n_;
    T* const lines = lines_ + slot * at_once_ * size;
    for (Index s = first; s < end; ++s) pack_lines(s, lines + (s - first) * size);
    for (Index strip = 0; strip < strips_m_; ++strip) {
      const Index k = strip * tile_m_;
      T* const rows = triangle_ + (shares_triangle() ? begin_of(strip) : 0);
      if (!shares_triangle()) pack_triangle(strip, rows);
      // The next strip of rows comes from L3 or memory. The tiles prefetch it, each a part of it.
      const T* const next = rows + (k + tile_m_) * tile_m_;
      const bool has_next = shares_triangle() && strip + 1 < strips_m_;
      for (Index s = 0; s < end - first; ++s) {
        const Index part = s * k * (prefetch_bytes / static_cast<Index>(sizeof(T)));
        const bool is_in_next = has_next && part < (k + 2 * tile_m_) * tile_m_;
        kernel_.solve(k, rows, lines + s * size, is_in_next ? next + part : rows);
      }
    }
    for (Index s = first; s < end; ++s) unpack_lines(s, lines + (s - first) * size);
  }

  const TriangularSystemCall& call_;
  const MicroKernel<T>& kernel_;
  Team& team_;
  Index tile_m_, tile_n_;
  bool is_lower_;
  Index strips_m_, strips_n_; ///< of the triangle's rows, and of lines
  Index rows_;                ///< of a strip of lines
  int threads_;
  Index at_once_; ///< strips of lines that a task solves
  Scratch scratch_;
  T* triangle_ = nullptr; ///< all strips, or room for one
  T* lines_ = nullptr;    ///< for each slot a task's strips
};

template <class T>
Status solve(CpuExecutor& cpu, const TriangularSystemCall& call) {
  const MicroKernel<T>& kernel = micro_kernel<T>(cpu.isa());
  if (2 * call.count < kernel.tile_n) return {StatusCode::Rejected, "products suit a system with few lines"};
  TriangularSystem<T>(cpu, call, kernel).run();
  return {};
}

} // namespace

Status triangular_system(CpuExecutor& cpu, const TriangularSystemCall& call) noexcept try {
  return call.type == DType::F32 ? solve<float>(cpu, call) : solve<double>(cpu, call);
} catch (const std::bad_alloc& error) {
  return out_of_memory(error);
}

} // namespace tessera::cpu
