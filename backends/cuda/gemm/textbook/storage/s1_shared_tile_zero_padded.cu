/// shared_tile_zero_padded: both operands are copied to storage that is padded to whole tiles, so that no load has a
/// guard.
///
/// The copy reads and writes m·k + k·n elements, and saves two comparisons for each thread and tile. It also undoes the
/// transposes. After the copy, one result costs 2·k operations and reads 2·k/32 elements from global memory (k/4 bytes
/// in f32). The source is the CUDA course.

#include "cuda/gemm/common/traffic.hpp"
#include "cuda/gemm/ladder.hpp"
#include "zero_padded_tile.cuh"

namespace tessera::cuda {
namespace {

template <class T>
constexpr GemmKernel rung{.name = "shared_tile_zero_padded",
                          .summary = "shared_tile_32 on copies padded to whole tiles: no guards in the loop",
                          .source = "CUDA course",
                          .type = dtype_of<T>,
                          .tile = {zero_padded_tile::tile, zero_padded_tile::tile, zero_padded_tile::tile},
                          .summation = Summation::Canonical,
                          .run = zero_padded_tile::run<T, CanonicalSum<T>>,
                          .traffic = padded_traffic};

} // namespace

const GemmKernel shared_tile_zero_padded_f32 = rung<float>;
const GemmKernel shared_tile_zero_padded_f64 = rung<double>;

} // namespace tessera::cuda
