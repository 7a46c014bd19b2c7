/// row_shared: each block computes one row of C and keeps the row of A that it needs in dynamic shared memory.
///
/// A is read from global memory once; every thread then reads it from shared memory, as broadcasts. B is read by
/// coalesced loads, m times in all, and nothing reduces these reads. One result costs 2·k operations, k elements of B
/// from global memory (4·k bytes in f32) and k elements of A from shared memory. A row over 48 KiB comes in chunks. The
/// source is the CUDA course.

#include "cuda/gemm/ladder.hpp"
#include "row_shared.cuh"

namespace tessera::cuda {
namespace {

template <class T>
Status run(const GemmKernel&, Executor&, Queue& queue, const GemmCall& call) noexcept {
  row_in_shared::launch<T, CanonicalSum<T>>(queue, call);
  return launched("row_shared");
}

template <class T>
constexpr GemmKernel rung{.name = "row_shared",
                          .summary = "a block a row of C, the row of A in shared memory",
                          .source = "CUDA course",
                          .type = dtype_of<T>,
                          .tile = {1, row_in_shared::threads, 1},
                          .summation = Summation::Canonical,
                          .run = run<T>,
                          .traffic = row_in_shared::traffic<T>};

} // namespace

const GemmKernel row_shared_f32 = rung<float>;
const GemmKernel row_shared_f64 = rung<double>;

} // namespace tessera::cuda
