/// naive_coalesced: a thread an element of C, threadIdx.x along its columns.
///
/// A warp reads one element of A (a broadcast) and 32 neighbours of B a step: two transactions for 32 FMAs. Every
/// element reads k of A and k of B again: 2·m·n·k elements read, from the caches if they are large enough.
/// In every CUDA course; B measures 7.5 times its strided twin.

#include "ladder.hpp"
#include "operands.cuh"
#include "status.hpp"
#include "stream.hpp"

namespace tessera::cuda {
namespace {

constexpr int block_cols = 32;
constexpr int block_rows = 8;
constexpr Index most_grid_rows = 65535; // gridDim.y; more rows are reached by a stride

template <class T>
__global__ void naive_coalesced(StridedOperands<T> x) {
  const Index j = static_cast<Index>(blockIdx.x) * block_cols + threadIdx.x;
  if (j >= x.n) return;
  for (Index i = static_cast<Index>(blockIdx.y) * block_rows + threadIdx.y; i < x.m; i += gridDim.y * block_rows) {
    const T* a = x.a + i * x.a_row;
    const T* b = x.b + j * x.b_col;
    T sum{0};
    for (Index first = 0; first < x.k; first += canonical_segment) {
      const Index last = first + canonical_segment < x.k ? first + canonical_segment : x.k;
      T segment{0};
      for (Index p = first; p < last; ++p) segment = fused(a[p * x.a_col], b[p * x.b_row], segment);
      sum = first == 0 ? segment : sum + segment;
    }
    store_result(x.c + i * x.ldc + j, sum, x.alpha, x.beta);
  }
}

template <class T>
Status run(const GemmKernel&, Executor&, Queue& queue, const GemmCall& call) noexcept {
  const Index grid_cols = (call.n + block_cols - 1) / block_cols;
  const Index grid_rows = (call.m + block_rows - 1) / block_rows;
  const dim3 grid(static_cast<unsigned>(grid_cols),
                  static_cast<unsigned>(grid_rows < most_grid_rows ? grid_rows : most_grid_rows));
  naive_coalesced<T><<<grid, dim3(block_cols, block_rows), 0, stream_of(queue)>>>(StridedOperands<T>(call));
  return launched("naive_coalesced");
}

template <class T>
constexpr GemmKernel row{.name = "naive_coalesced",
                         .summary = "a thread an element, neighbours in a warp read neighbours of B",
                         .source = "CUDA textbooks",
                         .type = dtype_of<T>,
                         .summation = Summation::Canonical,
                         .run = run<T>};

} // namespace

const GemmKernel naive_coalesced_f32 = row<float>;
const GemmKernel naive_coalesced_f64 = row<double>;

} // namespace tessera::cuda
