/// kahan_tile_zero_padded: shared_tile_zero_padded with compensated summation.
///
/// Both operands are copied to storage that is padded to whole tiles, so that no load has a guard; the padding adds
/// zeros, which change neither a sum nor its excess. After the copy, which reads and writes m·k + k·n elements, one
/// result costs four dependent operations a product and reads 2·k/32 elements from global memory (k/4 bytes in f32).
/// The error is about 2u·Σ|a·b| for every k, where u is the unit roundoff. The source is the CUDA course.

#include "cuda/gemm/common/traffic.hpp"
#include "cuda/gemm/ladder.hpp"
#include "cuda/gemm/textbook/kahan.cuh"
#include "zero_padded_tile.cuh"

namespace tessera::cuda {
namespace {

template <class T>
constexpr GemmKernel rung{.name = "kahan_tile_zero_padded",
                          .summary = "shared_tile_zero_padded with Kahan's compensated summation",
                          .source = "CUDA course",
                          .type = dtype_of<T>,
                          .math = Math::Compensated,
                          .tile = {zero_padded_tile::tile, zero_padded_tile::tile, zero_padded_tile::tile},
                          .run = zero_padded_tile::run<T, KahanSum<T>>,
                          .traffic = padded_traffic};

} // namespace

const GemmKernel kahan_tile_zero_padded_f32 = rung<float>;
const GemmKernel kahan_tile_zero_padded_f64 = rung<double>;

} // namespace tessera::cuda
