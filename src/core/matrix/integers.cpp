/// The sum of squares of whole numbers.

#include <new>

#include <tessera/backend.hpp>
#include <tessera/backend/out_of_memory.hpp>
#include <tessera/executor.hpp>
#include <tessera/matrix.hpp>
#include <tessera/status.hpp>

#include "core/executor/executor_memory.hpp"
#include "core/placement/placement.hpp"

namespace tessera {

std::int64_t sum_of_squares(std::span<const std::int32_t> numbers, Backend backend) try {
  Executor& executor = backend == Backend::Auto ? place_elementwise({}) : tessera::executor(backend);
  const auto count = static_cast<Index>(numbers.size());
  ReduceCall call{
      .op = ReduceOp::SumOfSquares, .type = DType::I32, .rows = 1, .cols = count, .x = numbers.data(), .ldx = count};
  Queue& queue = executor.default_queue();
  detail::ExecutorMemory copy(executor);
  if (!executor.capabilities().host_memory && count > 0) {
    throw_if_failed(copy.allocate(numbers.size_bytes()));
    throw_if_failed(executor.copy_in(queue, copy.data(), numbers.size_bytes(), numbers.data(), numbers.size_bytes(),
                                     numbers.size_bytes(), 1));
    call.x = copy.data();
  }
  ReduceResult result;
  Status status = executor.reduce(queue, call, result);
  if (status.code == StatusCode::Rejected && backend == Backend::Auto) { // a backend of another author
    Executor& reference = tessera::executor(Backend::Reference);
    call.x = numbers.data();
    status = reference.reduce(reference.default_queue(), call, result);
  }
  throw_if_failed(status);
  return result.whole;
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

} // namespace tessera
