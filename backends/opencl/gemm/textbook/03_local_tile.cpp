/// local_tile: launches 03_local_tile.cl, which says what it does.

#include "rung.hpp"

namespace tessera::opencl {
namespace source {

std::string_view local_tile_cl();

} // namespace source

namespace {

Status run(const GemmKernel&, Executor&, Queue& queue, const GemmCall& call) noexcept {
  return run_rung(queue, {"03_local_tile.cl", source::local_tile_cl}, "local_tile", call,
                  {.tile_m = 16, .tile_n = 16, .group = {16, 16}, .local_elements = 2 * 16 * 16});
}

template <class T>
constexpr GemmKernel rung{.name = "local_tile",
                          .summary = "square tiles of A and B in local memory",
                          .source = "CUDA matmul blog; course report; SGEMM repository",
                          .type = dtype_of<T>,
                          .tile = {16, 16, 16},
                          .summation = Summation::Canonical,
                          .run = run,
                          .traffic = tile_traffic};

} // namespace

const GemmKernel local_tile_f32 = rung<float>;
const GemmKernel local_tile_f64 = rung<double>;

} // namespace tessera::opencl
