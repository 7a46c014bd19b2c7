/// widened: converts 16-bit operands to f32, multiplies them by the strict f32 ladder, and rounds the result to C's
/// type once.
///
/// An element of A or B costs one conversion, 2 bytes read and 4 written. The product has the speed and the bits of the
/// f32 kernel. It is for processors without 16-bit multiply-adds. Source: Tessera.

#include <new>

#include <tessera/backend/out_of_memory.hpp>

#include "cpu/executor.hpp"
#include "cpu/gemm/ladder.hpp"
#include "reference/gemm/widened.hpp"

namespace tessera::cpu {
namespace {

Status run(const GemmKernel&, Executor& executor, Queue& queue, const GemmCall& call) noexcept try {
  const host::WidenedProduct product(executor, queue, call);
  const Scratch copies = cpu_of(executor).scratch().acquire(product.bytes());
  return product.run(copies.data());
} catch (const std::bad_alloc& error) {
  return out_of_memory(error);
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

} // namespace tessera::cpu
