/// scaled_fp16: f32 operands rounded to fp16 after a scale, multiplied on the matrix units. Each row of op(A) and
/// column of op(B) is scaled by a power of two for each 128 k, so that fp16 keeps 11 bits of its larger elements,
/// whatever their magnitude.
///
/// It takes 2·m·n·k operations at the rate of fp16, half the cost of tf32, and has smaller errors: tf32 keeps as many
/// bits, but the matrix units cut there, and round nothing. Rows and columns with NaN or Inf are strict. The kernels
/// are the ones of emulated_fp16x3, with the larger of its two terms. Source: Ootomo and Yokota (IJHPCA 2022) for
/// scales and carried sums.

#include "cuda/gemm/ladder.hpp"
#include "fp16_terms.cuh"

namespace tessera::cuda {
namespace {

using OneTerm = wgmma::Recipe<MatrixUnitType::Fp16, 1, 64, wgmma::chunk_k>;

} // namespace

const GemmKernel scaled_fp16_f32{.name = "scaled_fp16",
                                 .summary = "tf32's accuracy or better from one product of scaled fp16",
                                 .source = "Ootomo and Yokota 2022",
                                 .type = DType::F32,
                                 .math = Math::ScaledFp16,
                                 .tile = {wgmma::tile_m * wgmma::cluster, 192, 128},
                                 .summation = Summation::HopperUnits,
                                 .accumulator = Accumulator::Truncating,
                                 .reject = wgmma::reject_emulated,
                                 .run = wgmma::run_fp16_terms<OneTerm, 64, 128, 192>,
                                 .epilogue = true,
                                 .narrows = true};

} // namespace tessera::cuda
