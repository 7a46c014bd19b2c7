/// widened: 16-bit operands are converted to f32 and multiplied by the strict f32 ladder, and the result is rounded to
/// C's type once. An element of A or B costs one conversion, 2 bytes read and 4 written. Source: Tessera.

#include <new>

#include <tessera/half.hpp>

#include "opencl/gemm/ladder.hpp"
#include "opencl/queue/scratch.hpp"
#include "reference/gemm/widened.hpp"

namespace tessera::opencl {
namespace {

Status run(const GemmKernel&, Executor& executor, Queue& queue, const GemmCall& call) noexcept try {
  const host::WidenedProduct product(executor, queue, call);
  Scratch copies;
  if (Status status = copies.allocate(queue, product.bytes()); !status.ok()) return status;
  return product.run(copies.data());
} catch (const std::bad_alloc&) {
  return {StatusCode::OutOfMemory, {}};
}

template <class T>
constexpr GemmKernel rung{.name = "widened",
                          .summary = "operands converted to f32, the f32 ladder's product, rounded once",
                          .source = "Tessera",
                          .type = dtype_of<T>,
                          .summation = Summation::Canonical,
                          .run = run,
                          .epilogue = true};

} // namespace

const GemmKernel widened_f16 = rung<f16>;
const GemmKernel widened_bf16 = rung<bf16>;

} // namespace tessera::opencl
