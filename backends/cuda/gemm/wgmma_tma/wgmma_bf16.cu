/// wgmma_bf16: bf16 operands are read from where they are, by tensor maps, and multiplied by Hopper's warpgroup matrix
/// instructions in f32.
///
/// Nothing is packed or transposed: the copy engine and the matrix units read either direction. An operand is copied
/// first only if its rows do not begin at multiples of 16 bytes. It takes 2·m·n·k operations. Sources: NVIDIA CUTLASS;
/// PTX ISA, "Tensor-map".

#include "cuda/gemm/ladder.hpp"
#include "rung.cuh"

namespace tessera::cuda {

const GemmKernel wgmma_bf16_bf16{.name = "wgmma_bf16",
                                 .summary = "Hopper's warpgroup matrix instructions on bf16, read by tensor maps",
                                 .source = "CUTLASS",
                                 .type = DType::BF16,
                                 .math = Math::Bf16,
                                 .tile = {wgmma::tile_m * wgmma::cluster, 256, tma::block_k_of(MatrixUnitType::Bf16)},
                                 .summation = Summation::HopperUnits,
                                 .accumulator = Accumulator::Truncating,
                                 .reject = tma::reject,
                                 .run = tma::run<MatrixUnitType::Bf16>,
                                 .epilogue = true};

} // namespace tessera::cuda
