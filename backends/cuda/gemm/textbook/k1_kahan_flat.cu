/// kahan_flat: naive_flat with compensated summation.
///
/// Each product takes four dependent operations instead of one FMA. A flat kernel waits for memory, so that the
/// compensation is nearly free. One result reads 2·k elements (8·k bytes in f32), as in 03_naive_flat.cu. The error is
/// about 2u·Σ|a·b| for every k, where u is the unit roundoff. The source is the CUDA course.

#include "cuda/device/status.hpp"
#include "cuda/gemm/common/traffic.hpp"
#include "cuda/gemm/ladder.hpp"
#include "flat.cuh"
#include "kahan.cuh"

namespace tessera::cuda {
namespace {

template <class T>
Status run(const GemmKernel&, Executor&, Queue& queue, const GemmCall& call) noexcept {
  flat::launch<T, KahanSum<T>>(queue, call);
  return launched("kahan_flat");
}

template <class T>
constexpr GemmKernel rung{.name = "kahan_flat",
                          .summary = "naive_flat with Kahan's compensated summation",
                          .source = "CUDA course",
                          .type = dtype_of<T>,
                          .math = Math::Compensated,
                          .tile = {1, flat::threads, 1},
                          .run = run<T>,
                          .traffic = coalesced_traffic};

} // namespace

const GemmKernel kahan_flat_f32 = rung<float>;
const GemmKernel kahan_flat_f64 = rung<double>;

} // namespace tessera::cuda
