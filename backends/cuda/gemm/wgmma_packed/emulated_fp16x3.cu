/// emulated_fp16x3: f32-grade products on the matrix units. Each operand is split into two fp16 terms. The products
/// low·high, high·low and high·high are added; low·low is below what f32 keeps.
///
/// It takes 6·m·n·k operations at the rate of fp16, an eighth of f32's cost on an H100. Rows of op(A) and columns of
/// op(B) are scaled by chunks of 128 k, so that any finite f32 fits. Rows and columns with NaN or Inf are strict.
/// Source: Ootomo and Yokota, "Recovering single precision accuracy from Tensor Cores while surpassing the FP32
/// theoretical peak performance" (IJHPCA 2022).

#include "cuda/gemm/ladder.hpp"
#include "fp16_terms.cuh"

namespace tessera::cuda {
namespace {

using TwoTerms = wgmma::Recipe<MatrixUnitType::Fp16, 2, 32, wgmma::chunk_k>;

} // namespace

const GemmKernel emulated_fp16x3_f32{.name = "emulated_fp16x3",
                                     .summary = "f32-grade results from three products of fp16 parts",
                                     .source = "Ootomo and Yokota 2022",
                                     .type = DType::F32,
                                     .math = Math::EmulatedFp16x3,
                                     .tile = {wgmma::tile_m * wgmma::cluster, 192, 128},
                                     .summation = Summation::HopperUnits,
                                     .accumulator = Accumulator::Truncating,
                                     .reject = wgmma::reject_emulated,
                                     .run = wgmma::run_fp16_terms<TwoTerms, 128, 192>,
                                     .epilogue = true,
                                     .narrows = true};

} // namespace tessera::cuda
