/// kahan_row_shared: row_shared with compensated summation.
///
/// The same reads; four dependent operations a product instead of one FMA, hidden behind the loads of B. Error of
/// about 2u·Σ|a·b| whatever k. CUDA course.

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
constexpr GemmKernel row{.name = "kahan_row_shared",
                         .summary = "row_shared with Kahan's compensated summation",
                         .source = "CUDA course",
                         .type = dtype_of<T>,
                         .math = Math::Compensated,
                         .tile = {1, row_in_shared::threads, 1},
                         .run = run<T>,
                         .traffic = row_in_shared::traffic<T>};

} // namespace

const GemmKernel kahan_row_shared_f32 = row<float>;
const GemmKernel kahan_row_shared_f64 = row<double>;

} // namespace tessera::cuda
