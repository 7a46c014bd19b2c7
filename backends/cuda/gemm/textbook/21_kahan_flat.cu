/// kahan_flat: naive_flat with compensated summation.
///
/// The same reads; four dependent operations a product instead of one FMA. Where memory is what a flat kernel waits
/// for, the compensation is close to free. Error of about 2u·Σ|a·b| whatever k. CUDA course.

#include "cuda/device/status.hpp"
#include "cuda/gemm/ladder.hpp"
#include "flat.cuh"
#include "kahan.cuh"
#include "traffic.hpp"

namespace tessera::cuda {
namespace {

template <class T>
Status run(const GemmKernel&, Executor&, Queue& queue, const GemmCall& call) noexcept {
  flat::launch<T, KahanSum<T>>(queue, call);
  return launched("kahan_flat");
}

template <class T>
constexpr GemmKernel row{.name = "kahan_flat",
                         .summary = "naive_flat with Kahan's compensated summation",
                         .source = "CUDA course",
                         .type = dtype_of<T>,
                         .math = Math::Compensated,
                         .tile = {1, flat::threads, 1},
                         .run = run<T>,
                         .traffic = coalesced_traffic};

} // namespace

const GemmKernel kahan_flat_f32 = row<float>;
const GemmKernel kahan_flat_f64 = row<double>;

} // namespace tessera::cuda
