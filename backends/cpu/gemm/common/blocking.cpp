#include "blocking.hpp"

#include <algorithm>

namespace tessera::cpu {
namespace {

/// Cuts `count` strips into parts of at most `most` strips, as equal as possible, and returns the largest part's size.
Index even_part(Index count, Index most) { return ceil_div(count, ceil_div(count, std::max<Index>(1, most))); }

/// Cuts like even_part, but returns `count` where it exceeds `most` by up to a quarter: the last-level cache has no
/// sharp edge, so that larger parts cost less than one part more.
Index block_part(Index count, Index most) { return count <= most + most / 4 ? count : even_part(count, most); }

} // namespace

template <class T>
Blocking choose_blocking(const Capabilities& machine, const MicroKernel<T>& kernel, Index m, Index n, Index k,
                         int threads) {
  constexpr Index tasks_per_thread = 12; // many tasks even out the time that the operating system takes from a thread
  const double work = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  const int used = threads_for(work, threads);

  const Index l2 = l2_bytes_of(machine);
  const Index l3 = machine.l3_bytes > 0 ? static_cast<Index>(machine.l3_bytes) : Index{8} << 20;
  const Index segment_bytes = std::min(k, canonical_segment) * static_cast<Index>(sizeof(T)); // of one row or column
  const Index a_bytes = segment_bytes * kernel.tile_m, b_bytes = segment_bytes * kernel.tile_n / kernel.parts; // strips
  const Index strips_m = ceil_div(m, kernel.tile_m);
  const Index strips_n = ceil_div(n, kernel.tile_n);
  const Index block_bytes = std::min(l3 / 2, Index{16} << 20);
  const Index block_strips_m = block_part(strips_m, block_bytes / a_bytes);
  Index block_strips_n = block_part(strips_n, block_bytes / b_bytes);

  // A gets two fifths of L2. The rest is for the strip of B in use, the next one, and C.
  Index task_strips_m = even_part(block_strips_m, l2 * 2 / 5 / a_bytes);
  // Where it gets all of A, B is packed a few strips at a time, which are still in L2 when they are multiplied.
  if (used == 1 && task_strips_m >= strips_m && k <= canonical_segment)
    block_strips_n = std::min(block_strips_n, even_part(strips_n, l2 / 4 / b_bytes));
  Index task_strips_n = block_strips_n;
  if (used > 1) {
    const auto tasks = [&] {
      return ceil_div(block_strips_m, task_strips_m) * ceil_div(block_strips_n, task_strips_n);
    };
    // Columns are cut first, because neighbouring tasks then read the same part of A. Rows are cut where columns are
    // few.
    while (tasks() < used * tasks_per_thread && task_strips_n > 4) task_strips_n = ceil_div(task_strips_n, 2);
    while (tasks() < used * tasks_per_thread && task_strips_m > 1) task_strips_m = ceil_div(task_strips_m, 2);
    while (tasks() < used * tasks_per_thread && task_strips_n > 1) task_strips_n = ceil_div(task_strips_n, 2);
  }
  return {.block_m = block_strips_m * kernel.tile_m,
          .block_n = block_strips_n * kernel.tile_n,
          .task_m = task_strips_m * kernel.tile_m,
          .task_n = task_strips_n * kernel.tile_n,
          .threads = used};
}

template Blocking choose_blocking(const Capabilities&, const MicroKernel<float>&, Index, Index, Index, int);
template Blocking choose_blocking(const Capabilities&, const MicroKernel<double>&, Index, Index, Index, int);

} // namespace tessera::cpu
