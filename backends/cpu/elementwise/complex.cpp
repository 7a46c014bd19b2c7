/// Operations on complex numbers, shared out in blocks of rows and columns. An operation that reads columns goes
/// through square blocks, so that both the lines read and the lines written stay in the cache.

#include "complex.hpp"

#include <algorithm>

#include "reference/elementwise/complex_block.hpp"
#include "reference/fma_clones.hpp"

namespace tessera::cpu {
namespace {

using host::ComplexBlock;

constexpr Index task_numbers = 16384; ///< numbers of a task; with fewer, waking a thread costs more than it saves
constexpr Index task_cols = 1024;     ///< most columns of a task, so that flat matrices have tasks for all threads
constexpr Index square = 16;          ///< rows and columns of a square block, which takes 8 KiB for pairs of f64

TESSERA_FMA_CLONES void map_block(const MapCall& call, const ComplexBlock& block) { host::map_complex(call, block); }

/// Computes a task, in square blocks if the operation reads columns.
void map_task(const MapCall& call, const ComplexBlock& task) {
  if (!host::reads_columns(call)) return map_block(call, task);
  for (Index row = task.row; row < task.last_row; row += square)
    for (Index col = task.col; col < task.last_col; col += square)
      map_block(call, {row, std::min(row + square, task.last_row), col, std::min(col + square, task.last_col)});
}

} // namespace

Status map_complex(const MapCall& call, Team& team, int threads) noexcept {
  if (call.rows * call.cols <= task_numbers) {
    map_task(call, {0, call.rows, 0, call.cols});
    return {};
  }
  const Index cols = std::min(call.cols, task_cols);
  const Index rows = (task_numbers / cols + square - 1) / square * square;
  const Index across = (call.cols + cols - 1) / cols;
  const Index down = (call.rows + rows - 1) / rows;
  team.run(down * across, threads, [&](Index task, int) {
    const Index row = task / across * rows;
    const Index col = task % across * cols;
    map_task(call, {row, std::min(row + rows, call.rows), col, std::min(col + cols, call.cols)});
  });
  return {};
}

} // namespace tessera::cpu
