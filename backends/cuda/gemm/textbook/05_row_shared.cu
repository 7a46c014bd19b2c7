/// row_shared: a block a row of C; the row of A is in dynamic shared memory.
///
/// A is read from global memory once and then m·n·k times from shared memory, as broadcasts; B is read m times by
/// coalesced loads that nothing saves. Rows over 48 KiB come in parts. 2·m·n·k operations. CUDA course.

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
constexpr GemmKernel row{.name = "row_shared",
                         .summary = "a block a row of C, the row of A in shared memory",
                         .source = "CUDA course",
                         .type = dtype_of<T>,
                         .tile = {1, row_in_shared::threads, 1},
                         .summation = Summation::Canonical,
                         .run = run<T>,
                         .traffic = row_in_shared::traffic<T>};

} // namespace

const GemmKernel row_shared_f32 = row<float>;
const GemmKernel row_shared_f64 = row<double>;

} // namespace tessera::cuda
