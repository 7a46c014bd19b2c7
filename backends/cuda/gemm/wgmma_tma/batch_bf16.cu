/// Batches of bf16 operands, read by tensor maps and multiplied by Hopper's warpgroup matrix instructions in f32.

#include "batch_rung.cuh"

namespace tessera::cuda::tma {

Status run_batch_bf16(cudaStream_t stream, const GemmBatch& group, Index multiprocessors) noexcept {
  return run_batch<MatrixUnitType::Bf16>(stream, group, multiprocessors);
}

} // namespace tessera::cuda::tma
