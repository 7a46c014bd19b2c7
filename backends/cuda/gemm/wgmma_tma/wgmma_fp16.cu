/// wgmma_fp16: fp16 operands are read from where they are, by tensor maps, and multiplied by Hopper's warpgroup matrix
/// instructions in f32.
///
/// Nothing is packed or transposed: the copy engine and the matrix units read either direction. An operand is copied
/// first only if its rows do not begin at multiples of 16 bytes. It takes 2·m·n·k operations. Sources: NVIDIA CUTLASS;
/// PTX ISA, "Tensor-map".

#include "cuda/gemm/ladder.hpp"
#include "rung.cuh"

namespace tessera::cuda {

const GemmKernel wgmma_fp16_f16{.name = "wgmma_fp16",
                                .summary = "Hopper's warpgroup matrix instructions on fp16, read by tensor maps",
                                .source = "CUTLASS",
                                .type = DType::F16,
                                .math = Math::Fp16,
                                .tile = {wgmma::tile_m * wgmma::cluster, 256, tma::block_k_of(MatrixUnitType::Fp16)},
                                .summation = Summation::HopperUnits,
                                .accumulator = Accumulator::Truncating,
                                .reject = tma::reject,
                                .run = tma::run<MatrixUnitType::Fp16>,
                                .epilogue = true};

} // namespace tessera::cuda
