/// pitched: naive_coalesced on copies of the operands whose rows begin at multiples of 512 bytes, as cudaMallocPitch
/// lays them out.
///
/// A warp that reads 32 neighbours of a row of B touches as few sectors as possible wherever its row begins. The copy
/// reads and writes m·k + k·n elements and undoes the transposes; after it, one result costs 2·k operations and reads
/// 2·k elements from global memory (8·k bytes in f32). The source is the CUDA course, whose experiment compares n =
/// 1000 to 1024: on the devices of its day only rows of 1024 began at whole segments. `gemm_compare --ld-pad 0` beside
/// this rung repeats it.

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
constexpr Index pitch_bytes = 512;

/// x.a and x.b are the pitched copies, whose rows hold neighbours.
template <class T>
__global__ void __launch_bounds__(tile_m* tile_n) pitched(StridedOperands<T> x) {
  const TileOrigin origin = tile_origin(x, tile_m, tile_n);
  const Index i = origin.row + threadIdx.y;
  const Index j = origin.col + threadIdx.x;
  if (i >= x.m || j >= x.n) return;
  const T* a = x.a + i * x.a_row;
  const T* b = x.b + j;
  CanonicalSum<T> sum;
  for (Index first = 0; first < x.k; first += canonical_segment) {
    sum.begin(first);
    const int steps = static_cast<int>(x.k - first < canonical_segment ? x.k - first : canonical_segment);
    for (int p = 0; p < steps; ++p, ++a, b += x.b_row) sum.chain = fused(*a, *b, sum.chain);
  }
  store_result(x.c + i * x.ldc + j, sum.value(), x.alpha, x.beta); // C := alpha·sum + beta·C
}

/// Returns the elements from row to row of a copy with so many columns.
template <class T>
Index pitch_of(Index cols) {
  constexpr Index unit = pitch_bytes / static_cast<Index>(sizeof(T));
  return ceil_div<Index>(cols, unit) * unit;
}

template <class T>
Status run(const GemmKernel& kernel, Executor& executor, Queue& queue, const GemmCall& call) noexcept {
  const cudaStream_t stream = stream_of(queue);
  StridedOperands<T> x(call);
  const Index a_pitch = pitch_of<T>(x.k), b_pitch = pitch_of<T>(x.n);
  Scratch copies;
  const auto elements = static_cast<std::size_t>(x.m * a_pitch + x.k * b_pitch);
  if (Status status = copies.allocate(executor, queue, elements * sizeof(T)); !status.ok()) return status;
  T* const a = copies.as<T>();
  T* const b = a + x.m * a_pitch;
  repack(stream, StridedMatrix<T>{x.a, x.a_row, x.a_col, x.m, x.k}, a, a_pitch, x.m, x.k, a_padding<T>);
  repack(stream, StridedMatrix<T>{x.b, x.b_row, x.b_col, x.k, x.n}, b, b_pitch, x.k, x.n, b_padding<T>);
  x.a = a;
  x.a_row = a_pitch;
  x.a_col = 1;
  x.b = b;
  x.b_row = b_pitch;
  x.b_col = 1;
  pitched<<<tile_count(call, tile_m, tile_n), dim3(tile_n, tile_m), 0, stream>>>(x);
  return launched(kernel.name);
}

GemmTraffic pitched_traffic(const GemmKernel& kernel, const GemmCall& call) noexcept {
  GemmCall copied = call;
  copied.op_a = copied.op_b = Op::None;
  return with_copies(coalesced_traffic(kernel, copied), call, GemmSizes(call).a + GemmSizes(call).b);
}

template <class T>
constexpr GemmKernel rung{.name = "pitched",
                          .summary = "naive_coalesced on copies whose rows begin at multiples of 512 bytes",
                          .source = "CUDA course",
                          .type = dtype_of<T>,
                          .tile = {tile_m, tile_n, 1},
                          .summation = Summation::Canonical,
                          .run = run<T>,
                          .traffic = pitched_traffic};

} // namespace

const GemmKernel pitched_f32 = rung<float>;
const GemmKernel pitched_f64 = rung<double>;

} // namespace tessera::cuda
