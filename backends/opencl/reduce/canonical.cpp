/// canonical: launches canonical.cl until one result is left, and fetches it.

#include <tessera/half.hpp>
#include <utility>

#include "ladder.hpp"
#include "opencl/elementwise/options.hpp"
#include "opencl/memory/copies.hpp"
#include "opencl/queue/scratch.hpp"
#include "reference/reduce/canonical.hpp"
#include "reference/reduce/whole_sum.hpp"

namespace tessera::opencl {
namespace source {

std::string_view canonical_cl();

} // namespace source

namespace {

constexpr std::size_t lanes = static_cast<std::size_t>(host::reduce_lanes);

struct Input {
  Index rows, cols;
  const void* x;
  Index ldx;
  std::size_t element;
};

Status fold(Queue& queue, const std::string& options, const Input& input, void* results) {
  const Index chunks = host::chunk_count(input.rows * input.cols);
  return Launch(queue, {"canonical.cl", source::canonical_cl}, options, "fold_chunks")
      .value<cl_long>(input.rows)
      .value<cl_long>(input.cols)
      .operand(input.x, input.element)
      .value<cl_long>(input.ldx)
      .operand(results, 8)
      .run({static_cast<std::size_t>(chunks) * lanes, 1}, {lanes, 1});
}

/// What is computed, of elements and of the results of chunks alike.
std::string options_of(const ReduceCall& call) {
  if (call.type == DType::I32) return " -D WHOLE";
  if (call.op == ReduceOp::MaxAbs) return " -D LARGEST";
  return call.op == ReduceOp::SumOfSquares ? " -D SQUARES" : "";
}

Status reduce(Queue& queue, const ReduceCall& call, void* result) {
  if (call.type != DType::I32)
    if (Status status = has_type(queue, DType::F64); !status.ok()) return status;
  Index count = host::chunk_count(call.rows * call.cols);
  Scratch scratch;
  if (Status status = scratch.allocate(queue, static_cast<std::size_t>(count + host::chunk_count(count)) * 8);
      !status.ok())
    return status;
  auto* results = scratch.as<std::uint64_t>();
  std::uint64_t* next = results + count;
  const bool whole = call.type == DType::I32;
  const std::string options = options_of(call);
  const std::size_t element = whole ? 4 : size_of(call.type);
  if (Status status = fold(queue, (whole ? " -D X=int" : stored_option("X", call.type)) + options,
                           {call.rows, call.cols, call.x, call.ldx, element}, results);
      !status.ok())
    return status;
  while (count > 1) {
    if (Status status = fold(queue, "-D RESULTS -D X=" + std::string(whole ? "ulong" : "double") + options,
                             {1, count, results, count, 8}, next);
        !status.ok())
      return status;
    std::swap(results, next);
    count = host::chunk_count(count);
  }
  return copy_out(command_queue(queue).memory(), command_queue(queue).get(), result, results, {8, 8, 8, 1}, true);
}

Status run(const ReduceKernel&, Executor&, Queue& queue, const ReduceCall& call, ReduceResult& result) noexcept try {
  return reduce(queue, call, &result.value);
} catch (const std::bad_alloc&) {
  return {StatusCode::OutOfMemory, {}};
}

Status run_whole(const ReduceKernel&, Executor&, Queue& queue, const ReduceCall& call, ReduceResult& result) noexcept
    try {
  host::WholeSum sum{};
  if (Status status = reduce(queue, call, &sum.bits); !status.ok()) return status;
  return host::set_whole(call, sum, result);
} catch (const std::bad_alloc&) {
  return {StatusCode::OutOfMemory, {}};
}

template <class T>
constexpr ReduceKernel rung(ReduceOp op) {
  return {.name = "canonical",
          .summary = "32 work-items a chunk of 1024, folded in local memory; the same bits on every backend",
          .source = "Tessera",
          .op = op,
          .type = dtype_of<T>,
          .summation = Summation::Canonical,
          .run = run};
}

} // namespace

const std::array<ReduceKernel, 13> canonical_reductions{
    rung<float>(ReduceOp::SumOfSquares),
    rung<double>(ReduceOp::SumOfSquares),
    rung<f16>(ReduceOp::SumOfSquares),
    rung<bf16>(ReduceOp::SumOfSquares),
    rung<float>(ReduceOp::SumAbs),
    rung<double>(ReduceOp::SumAbs),
    rung<f16>(ReduceOp::SumAbs),
    rung<bf16>(ReduceOp::SumAbs),
    rung<float>(ReduceOp::MaxAbs),
    rung<double>(ReduceOp::MaxAbs),
    rung<f16>(ReduceOp::MaxAbs),
    rung<bf16>(ReduceOp::MaxAbs),
    host::whole_row("32 work-items a chunk of 1024 whole numbers; exact in 64 bits", run_whole)};

} // namespace tessera::opencl
