/// mma_sync_tf32: a warp's matrix instructions in tf32, on any card from compute capability 8.0 on; and mma_tf32: the
/// same kernels on Hopper, for the products that take them less time than wgmma_tf32.

#include "rung.cuh"

namespace tessera::cuda {
namespace {

const char* reject_large(const GemmKernel& row, const GemmCall& call, const Capabilities& machine) noexcept {
  if (const char* reason = warp_mma::reject(row, call, machine)) return reason;
  if (machine.compute_major != 9) return "mma_sync_tf32 takes every product on this card; use that";
  return warp_mma::is_small_in_tf32(call, machine)
             ? nullptr
             : "wgmma_tf32 takes less time for so large a product; use that, or mma_sync_tf32";
}

constexpr GemmKernel of_small_products() {
  GemmKernel row = warp_mma::row<float>(
      "mma_tf32", "small products in tf32, in one launch, from operands at any address", DType::F32, Math::Tf32);
  row.tile = {warp_mma::Small::side, warp_mma::Small::side, warp_mma::depth_bytes / 4};
  row.reject = reject_large;
  return row;
}

} // namespace

const GemmKernel mma_sync_tf32_f32 = warp_mma::row<float>(
    "mma_sync_tf32", "a warp's matrix instructions in tf32, fed by cp.async", DType::F32, Math::Tf32);
const GemmKernel mma_tf32_f32 = of_small_products();

} // namespace tessera::cuda
