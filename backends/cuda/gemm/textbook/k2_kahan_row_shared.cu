/// kahan_row_shared: row_shared with compensated summation.
///
/// Each product takes four dependent operations instead of one FMA, which the loads of B hide. One result reads k
/// elements of B from global memory (4·k bytes in f32) and k elements of A from shared memory, as in 05_row_shared.cu.
/// The error is about 2u·Σ|a·b| for every k, where u is the unit roundoff. The source is the CUDA course.

#include "cuda/gemm/ladder.hpp"
#include "kahan.cuh"
#include "row_shared.cuh"

namespace tessera::cuda {
namespace {

template <class T>
Status run(const GemmKernel&, Executor&, Queue& queue, const GemmCall& call) noexcept {
  row_in_shared::launch<T, KahanSum<T>>(queue, call);
  return launched("kahan_row_shared");
}

template <class T>
constexpr GemmKernel rung{.name = "kahan_row_shared",
                          .summary = "row_shared with Kahan's compensated summation",
                          .source = "CUDA course",
                          .type = dtype_of<T>,
                          .math = Math::Compensated,
                          .tile = {1, row_in_shared::threads, 1},
                          .run = run<T>,
                          .traffic = row_in_shared::traffic<T>};

} // namespace

const GemmKernel kahan_row_shared_f32 = rung<float>;
const GemmKernel kahan_row_shared_f64 = rung<double>;

} // namespace tessera::cuda
