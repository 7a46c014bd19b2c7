/// wgmma_bf16: operands are rounded to bf16 and packed, then multiplied by Hopper's warpgroup matrix instructions and
/// summed in f32.
///
/// Packing reads and writes each operand once. The product then runs on bulk copies alone, whatever the operands'
/// strides and alignment were. It takes 2·m·n·k operations. Sources: NVIDIA CUTLASS; BLIS for the packing.

#include "cuda/gemm/ladder.hpp"
#include "rung.cuh"

namespace tessera::cuda {
namespace {

using Rounded = wgmma::Recipe<MatrixUnitType::Bf16, 1, 64, 0>;

} // namespace

const GemmKernel wgmma_bf16_f32{.name = "wgmma_bf16",
                                .summary = "Hopper's warpgroup matrix instructions on packed bf16",
                                .source = "CUTLASS; BLIS",
                                .type = DType::F32,
                                .math = Math::Bf16,
                                .tile = {wgmma::tile_m * wgmma::cluster, 256, 64},
                                .summation = Summation::HopperUnits,
                                .accumulator = Accumulator::Truncating,
                                .reject = wgmma::reject,
                                .run = wgmma::run<Rounded, 128, 256>,
                                .epilogue = true,
                                .narrows = true};

} // namespace tessera::cuda
