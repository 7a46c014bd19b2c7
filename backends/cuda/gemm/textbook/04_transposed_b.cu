/// transposed_b: B is transposed before the launch, so that each thread walks along two rows. The rung shows why such
/// reads do not coalesce.
///
/// On a CPU both operands would now stream. On a GPU it matters what the threads of a warp read in one step: the 32
/// columns of B that they need have become 32 rows, which lie k elements apart, so that each load moves 32 sectors,
/// like the loads of A in 01_naive_strided.cu. The transpose reads and writes k·n elements once; after it, one result
/// costs 2·k operations and reads 2·k elements (8·k bytes in f32). The source is the course report.

#include "cuda/gemm/common/canonical.cuh"
#include "cuda/gemm/common/copies/repack.cuh"
#include "cuda/gemm/common/grid.cuh"
#include "cuda/gemm/common/traffic.hpp"
#include "cuda/gemm/textbook/rung.hpp"
#include "cuda/queue/scratch.hpp"

namespace tessera::cuda {
namespace {

constexpr int tile_m = 8;
constexpr int tile_n = 32;

/// Computes C(i, j): walks along row i of op(A) and down column j of op(B).
template <class T>
__device__ void compute_element(const StridedOperands<T>& x, Index i, Index j) {
  const T* a = x.a + i * x.a_row;
  const T* b = x.b + j * x.b_col;
  CanonicalSum<T> sum;
  for (Index first = 0; first < x.k; first += canonical_segment) {
    sum.begin(first);
    const int steps = static_cast<int>(x.k - first < canonical_segment ? x.k - first : canonical_segment);
    for (int p = 0; p < steps; ++p, a += x.a_col, b += x.b_row) sum.chain = fused(*a, *b, sum.chain);
  }
  T* const c = x.c + i * x.ldc + j;
  const T scaled = x.alpha * sum.value();
  *c = x.beta == T{0} ? scaled : fused(x.beta, *c, scaled);
}

template <class T>
__global__ void transposed_b(StridedOperands<T> x) {
  const TileOrigin origin = tile_origin(x, tile_m, tile_n);
  const Index i = origin.row + threadIdx.y;
  const Index j = origin.col + threadIdx.x;
  if (i < x.m && j < x.n) compute_element(x, i, j);
}

/// Transposes B and launches the kernel on the copy.
template <class T>
Status run(const GemmKernel& kernel, Executor& executor, Queue& queue, const GemmCall& call) noexcept {
  const cudaStream_t stream = stream_of(queue);
  StridedOperands<T> x(call);
  Scratch transposed;
  if (call.op_b == Op::None) { // a transposed B is already stored that way
    if (Status status = transposed.allocate(executor, queue, static_cast<std::size_t>(call.n * call.k) * sizeof(T));
        !status.ok())
      return status;
    T* const b = transposed.as<T>();
    repack(stream, StridedMatrix<T>{x.b, x.b_col, x.b_row, x.n, x.k}, b, x.k, x.n, x.k, T{0});
    x.b = b;
    x.b_row = 1;
    x.b_col = x.k;
  }
  const dim3 threads(tile_n, tile_m);
  transposed_b<<<tile_count(call, tile_m, tile_n), threads, 0, stream>>>(x);
  return launched(kernel.name);
}

template <class T>
constexpr GemmKernel rung{.name = "transposed_b",
                          .summary = "naive_coalesced after transposing B: each thread streams, the warp does not",
                          .source = "course report",
                          .type = dtype_of<T>,
                          .tile = {tile_m, tile_n, 1},
                          .summation = Summation::Canonical,
                          .run = run<T>,
                          .traffic = transposed_b_traffic};

} // namespace

const GemmKernel transposed_b_f32 = rung<float>;
const GemmKernel transposed_b_f64 = rung<double>;

} // namespace tessera::cuda
