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
constexpr ReduceKernel rung(ReduceOp op) {
  return {.name = "canonical",
          .summary = "chunks of 1024 in 32 lanes, folded; serial",
          .source = "Tessera",
          .op = op,
          .type = dtype_of<T>,
          .summation = Summation::Canonical,
          .run = run<T>};
}

constexpr std::array kernels{rung<float>(ReduceOp::SumOfSquares),
                             rung<double>(ReduceOp::SumOfSquares),
                             rung<float>(ReduceOp::SumAbs),
                             rung<double>(ReduceOp::SumAbs),
                             rung<float>(ReduceOp::MaxAbs),
                             rung<double>(ReduceOp::MaxAbs),
                             rung<f16>(ReduceOp::SumOfSquares),
                             rung<bf16>(ReduceOp::SumOfSquares),
                             rung<f16>(ReduceOp::SumAbs),
                             rung<bf16>(ReduceOp::SumAbs),
                             rung<f16>(ReduceOp::MaxAbs),
                             rung<bf16>(ReduceOp::MaxAbs),
                             host::whole_row("whole numbers, exact in int64; serial", run_whole)};

} // namespace

std::span<const ReduceKernel> reduce_ladder() { return kernels; }

} // namespace tessera::reference
