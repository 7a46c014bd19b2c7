#include "add_split_k.cuh"

#include "cuda/gemm/common/grid.cuh"
#include "cuda/gemm/common/programmatic_launch.cuh"
#include "cuda/gemm/common/stores/results.cuh"

namespace tessera::cuda {
namespace {

constexpr int few_slices = 4; ///< that threads of their own read

/// Adds the slices' sums in ascending order. A block has `columns` threads side by side, of four results each, and
/// `groups` of such threads: one, or one for each slice.
template <class R, int columns, int groups>
__global__ void __launch_bounds__(columns* groups) add_slices(const __grid_constant__ SliceSums x) {
  const EpilogueStore<float>& epilogue = x.epilogue;
  __shared__ float4 partial[groups][columns];
  launch_dependents();
  wait_for_kernel_before();
  const auto group = static_cast<int>(threadIdx.x) / columns;
  const auto column = static_cast<int>(threadIdx.x) % columns;
  const unsigned across = static_cast<unsigned>(x.pitch) / 4;
  const unsigned quad = blockIdx.x * columns + static_cast<unsigned>(column);
  const bool inside = quad < across * static_cast<unsigned>(epilogue.m);
  float4 sum{};
  if (inside) {
    const Index plane = epilogue.m * x.pitch;
    const float* from = x.sums + Index{quad} * 4;
#pragma unroll 8
    for (int slice = group; slice < x.slices; slice += groups) {
      const float4 s = *reinterpret_cast<const float4*>(from + slice * plane);
      sum = slice < groups ? s : float4{sum.x + s.x, sum.y + s.y, sum.z + s.z, sum.w + s.w};
    }
  }
  partial[group][column] = sum;
  __syncthreads();
  if (group != 0 || !inside) return;
  for (int other = 1; other < min(groups, x.slices); ++other) {
    const float4 s = partial[other][column];
    sum = float4{sum.x + s.x, sum.y + s.y, sum.z + s.z, sum.w + s.w};
  }
  const int i = static_cast<int>(quad / across), j = static_cast<int>(quad % across) * 4;
  if (epilogue.wanted) [[unlikely]]
    return epilogue.store([&](int) -> ResultPlace { return {i, j}; }, {{sum.x, sum.y, sum.z, sum.w}});
  R* const c = static_cast<R*>(epilogue.c) + i * epilogue.ldc + j;
  const float sums[4]{sum.x, sum.y, sum.z, sum.w};
  R old[4];
  if (epilogue.beta != 0) {
#pragma unroll
    for (int e = 0; e < 4; ++e)
      if (j + e < epilogue.n) old[e] = c[e];
  }
#pragma unroll
  for (int e = 0; e < 4; ++e)
    if (j + e < epilogue.n) c[e] = rounded_result<R>(sums[e], epilogue.alpha, epilogue.beta, old[e]);
}

template <class R, int columns, int groups>
Status launch(cudaStream_t stream, Index quads, const SliceSums& x, const char* name) noexcept {
  const Launch how{.blocks = ceil_div<Index>(quads, columns), .threads = columns * groups, .programmatic = true};
  return launch_kernel(stream, how, name, add_slices<R, columns, groups>, x);
}

/// Chooses the shape of the blocks. Few results need threads of their own for each slice, so that many multiprocessors
/// read them; for more results, longer lines are faster, and with many results there are threads enough.
template <class R>
Status launch(cudaStream_t stream, const SliceSums& x, const char* name) noexcept {
  const Index quads = x.epilogue.m * x.pitch / 4;
  if (x.slices > few_slices) return launch<R, 64, 1>(stream, quads, x, name);
  if (quads < 4096) return launch<R, 16, few_slices>(stream, quads, x, name);
  if (quads < 65536) return launch<R, 32, few_slices>(stream, quads, x, name);
  return launch<R, 64, 1>(stream, quads, x, name);
}

} // namespace

Status launch_add_slices(cudaStream_t stream, const SliceSums& x, const char* name) noexcept {
  switch (x.epilogue.result) {
    case DType::F32:
      return launch<float>(stream, x, name);
    case DType::BF16:
      return launch<__nv_bfloat16>(stream, x, name);
    default:
      return launch<__half>(stream, x, name);
  }
}

} // namespace tessera::cuda
