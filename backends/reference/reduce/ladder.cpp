#include "ladder.hpp"

#include <array>
#include <new>

#include <tessera/backend/out_of_memory.hpp>
#include <tessera/half.hpp>

#include "canonical.hpp"
#include "whole_sum.hpp"

namespace tessera::reference {
namespace {

template <class T>
Status run(const ReduceKernel&, Executor&, Queue&, const ReduceCall& call, ReduceResult& result) noexcept try {
  auto sums = sized_vector<double>(static_cast<std::size_t>(host::chunk_count(call.rows * call.cols)),
                                   "the sums of a reduction");
  for (std::size_t chunk = 0; chunk < sums.size(); ++chunk)
    sums[chunk] = host::reduce_matrix_chunk<T>(call, static_cast<Index>(chunk));
  result.value = host::fold_levels(call.op, sums);
  return {};
} catch (const std::bad_alloc& error) {
  return out_of_memory(error);
}

Status run_whole(const ReduceKernel&, Executor&, Queue&, const ReduceCall& call, ReduceResult& result) noexcept try {
  return host::set_whole(call, host::sum_of_elements(call, 0, call.rows * call.cols, host::sum_of_neighbours), result);
} catch (const std::bad_alloc& error) {
  return out_of_memory(error);
}

template <class T>
constexpr ReduceKernel row(ReduceOp op) {
  return {.name = "canonical",
          .summary = "chunks of 1024 in 32 lanes, folded; serial",
          .source = "Tessera",
          .op = op,
          .type = dtype_of<T>,
          .summation = Summation::Canonical,
          .run = run<T>};
}

constexpr std::array rows{row<float>(ReduceOp::SumOfSquares),
                          row<double>(ReduceOp::SumOfSquares),
                          row<float>(ReduceOp::SumAbs),
                          row<double>(ReduceOp::SumAbs),
                          row<float>(ReduceOp::MaxAbs),
                          row<double>(ReduceOp::MaxAbs),
                          row<f16>(ReduceOp::SumOfSquares),
                          row<bf16>(ReduceOp::SumOfSquares),
                          row<f16>(ReduceOp::SumAbs),
                          row<bf16>(ReduceOp::SumAbs),
                          row<f16>(ReduceOp::MaxAbs),
                          row<bf16>(ReduceOp::MaxAbs),
                          host::whole_row("whole numbers, exact in int64; serial", run_whole)};

} // namespace

std::span<const ReduceKernel> reduce_ladder() { return rows; }

} // namespace tessera::reference
