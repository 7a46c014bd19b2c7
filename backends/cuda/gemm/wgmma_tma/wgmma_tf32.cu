/// wgmma_tf32: f32 operands are read from where they are, by tensor maps, and multiplied by Hopper's warpgroup matrix
/// instructions in tf32.
///
/// The matrix units ignore the last 13 bits of an element. One operand passes through registers, so that it may be
/// stored either way. The other one has to be stored along k: since Cᵀ = op(B)ᵀ·op(A)ᵀ, it may be either of the two. If
/// neither is stored along k, B is transposed first. It takes 2·m·n·k operations. Sources: NVIDIA CUTLASS; PTX ISA,
/// "Tensor-map".

#include "cuda/gemm/ladder.hpp"
#include "rung.cuh"

namespace tessera::cuda {

const GemmKernel wgmma_tf32_f32{.name = "wgmma_tf32",
                                .summary = "Hopper's warpgroup matrix instructions in tf32, read by tensor maps",
                                .source = "CUTLASS",
                                .type = DType::F32,
                                .math = Math::Tf32,
                                .tile = {wgmma::tile_m * wgmma::cluster, 256, tma::block_k_of(MatrixUnitType::Tf32)},
                                .summation = Summation::HopperUnits,
                                .accumulator = Accumulator::Truncating,
                                .reject = tma::reject,
                                .run = tma::run<MatrixUnitType::Tf32>,
                                .epilogue = true,
                                .narrows = true};

} // namespace tessera::cuda
