/// Element-wise operations, epilogues and random fills, shared out by rows. A transpose goes through square blocks, so
/// that both the rows read and the rows written stay in the cache.

#include <algorithm>

#include <tessera/detail/floating_point.hpp>

#include "complex.hpp"
#include "cpu/executor.hpp"
#include "reference/elementwise/epilogue.hpp"
#include "reference/elementwise/rows.hpp"
#include "reference/fma_clones.hpp"

namespace tessera::cpu {
namespace {

constexpr Index task_elements = 32768; ///< elements of a task; with fewer, waking a thread costs more than it saves
constexpr Index transpose_block = 32;  ///< rows and columns of a block; what it reads and writes in f64 takes 16 KiB

TESSERA_FMA_CLONES void map_rows(const MapCall& call, Index first, Index last) { host::map_rows(call, first, last); }
TESSERA_FLAT_FMA_CLONES void random_rows(const RandomCall& call, Index first, Index last) {
  host::random_rows(call, first, last);
}

TESSERA_FMA_CLONES void apply_epilogue_to_rows(const FinishCall& call, Index first, Index last) {
  host::apply_epilogue_to_rows(call, first, last);
}

/// Computes the rows [first, last) of z = xᵀ.
template <class T>
void transpose_rows(const MapCall& call, Index first, Index last) {
  const auto* x = static_cast<const T*>(call.x);
  auto* z = static_cast<T*>(call.z);
  for (Index block = 0; block < call.cols; block += transpose_block) {
    const Index end = std::min(block + transpose_block, call.cols);
    for (Index i = first; i < last; ++i)
      for (Index j = block; j < end; ++j) z[i * call.ldz + j] = x[j * call.ldx + i];
  }
}

struct RowTasks {
  Index rows; ///< rows of one task
  Index count;
};

RowTasks tasks_of_rows(Index rows, Index cols, Index multiple) {
  const Index wanted = std::max<Index>(1, task_elements / std::max<Index>(1, cols));
  const Index each = (wanted + multiple - 1) / multiple * multiple;
  return {each, (rows + each - 1) / each};
}

/// Returns the call for the columns [first, last) of `call`. Wide, flat matrices are shared out by columns.
MapCall columns_of(const MapCall& call, Index first, Index last) {
  const Index offset = first * static_cast<Index>(size_of(call.type));
  const Index offset_x = call.op == MapOp::Convert ? first * static_cast<Index>(size_of(call.x_type)) : offset;
  MapCall part = call;
  part.cols = last - first;
  if (call.x != nullptr) part.x = static_cast<const char*>(call.x) + offset_x;
  if (call.y != nullptr) part.y = static_cast<const char*>(call.y) + offset;
  part.z = static_cast<char*>(call.z) + offset;
  return part;
}

} // namespace

Status CpuExecutor::run_map(Queue&, const MapCall& call) noexcept {
  const detail::ContractArithmetic contract;
  const int threads = threads_for(call.threads);
  if (is_complex(call.op)) return map_complex(call, team(), threads);
  if (call.op == MapOp::Transpose) {
    const std::size_t bytes = size_of(call.type);
    const auto transpose = bytes == 8   ? transpose_rows<std::uint64_t>
                           : bytes == 4 ? transpose_rows<std::uint32_t>
                                        : transpose_rows<std::uint16_t>;
    const RowTasks each = tasks_of_rows(call.rows, call.cols, transpose_block);
    team().run(each.count, threads, [&](Index task, int) {
      for (Index i = task * each.rows; i < std::min((task + 1) * each.rows, call.rows); i += transpose_block)
        transpose(call, i, std::min(i + transpose_block, call.rows));
    });
    return {};
  }
  const bool by_columns = call.op != MapOp::Identity && call.rows < threads;
  const Index step = by_columns ? task_elements : call.cols;
  const Index across = by_columns ? (call.cols + step - 1) / step : 1;
  const RowTasks each = tasks_of_rows(call.rows, step, 1);
  team().run(each.count * across, threads, [&](Index task, int) {
    const Index first = task / across * each.rows;
    const Index col = task % across * step;
    const Index last = std::min(first + each.rows, call.rows);
    by_columns ? map_rows(columns_of(call, col, std::min(col + step, call.cols)), first, last)
               : map_rows(call, first, last);
  });
  return {};
}

Status CpuExecutor::run_finish(Queue&, const FinishCall& call) noexcept {
  const detail::ContractArithmetic contract;
  const RowTasks each = tasks_of_rows(call.rows, call.cols, 1);
  team().run(each.count, threads_for(call.threads), [&](Index task, int) {
    apply_epilogue_to_rows(call, task * each.rows, std::min((task + 1) * each.rows, call.rows));
  });
  return {};
}

Status CpuExecutor::run_random(Queue&, const RandomCall& call) noexcept {
  const detail::ContractArithmetic contract;
  const RowTasks each = tasks_of_rows(call.rows, call.cols, 1);
  team().run(each.count, threads_for(call.threads), [&](Index task, int) {
    random_rows(call, task * each.rows, std::min((task + 1) * each.rows, call.rows));
  });
  return {};
}

} // namespace tessera::cpu
