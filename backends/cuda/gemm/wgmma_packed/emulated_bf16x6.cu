/// emulated_bf16x6: f32-grade products on the matrix units. Each operand is split into three bf16 terms, which keep all
/// 24 bits; the six largest of nine products are added.
///
/// It takes 12·m·n·k operations at the rate of bf16. bf16 has f32's exponents, so nothing is scaled. Rows and
/// columns with NaN, Inf, or elements that round to Inf are strict. Source: Henry, Tang and Heinecke, "Leveraging the
/// bfloat16 Artificial Intelligence Datatype For Higher-Precision Computations" (ARITH 2019).

#include "cuda/gemm/ladder.hpp"
#include "rung.cuh"

namespace tessera::cuda {
namespace {

using ThreeTerms = wgmma::Recipe<MatrixUnitType::Bf16, 3, 32, 64>;

} // namespace

const GemmKernel emulated_bf16x6_f32{.name = "emulated_bf16x6",
                                     .summary = "f32-grade results from six products of bf16 parts",
                                     .source = "Henry, Tang and Heinecke 2019",
                                     .type = DType::F32,
                                     .math = Math::EmulatedBf16x6,
                                     .tile = {wgmma::tile_m * wgmma::cluster, 192, 64},
                                     .summation = Summation::HopperUnits,
                                     .accumulator = Accumulator::Truncating,
                                     .reject = wgmma::reject_emulated,
                                     .run = wgmma::run<ThreeTerms, 128, 192>,
                                     .epilogue = true,
                                     .narrows = true};

} // namespace tessera::cuda
