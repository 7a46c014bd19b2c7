/// The end of a product whose k was cut into slices.

#include "wgmma_product.cuh"

namespace tessera::cuda::wgmma {

__global__ void add_slices(const __grid_constant__ Product x) {
  if (x.unfit != nullptr && *x.unfit != 0) return;
  const Index e = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (e >= x.m * x.n) return;
  float sum = x.sums[e];
  for (int slice = 1; slice < x.slices; ++slice) sum += x.sums[slice * x.m * x.n + e];
  store_result(x.c + e / x.n * x.ldc + e % x.n, sum, x.alpha, x.beta);
}

} // namespace tessera::cuda::wgmma
