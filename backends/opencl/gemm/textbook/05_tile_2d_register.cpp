/// tile_2d_register: launches 05_tile_2d_register.cl, which says what it does.

#include "rung.hpp"

namespace tessera::opencl {
namespace source {

std::string_view tile_2d_register_cl();

} // namespace source

namespace {

Status run(const GemmKernel&, Executor&, Queue& queue, const GemmCall& call) noexcept {
  return run_rung(queue, {"05_tile_2d_register.cl", source::tile_2d_register_cl}, "tile_2d_register", call,
                  register_tiles(call.type, 1, 0));
}

template <class T>
constexpr GemmKernel rung{.name = "tile_2d_register",
                          .summary = "8x8 results a work-item, the operands of an outer product in registers",
                          .source = "SGEMM repository",
                          .type = dtype_of<T>,
                          .tile = {16 * side<T>, 16 * side<T>, 8},
                          .summation = Summation::Canonical,
                          .run = run,
                          .traffic = tile_traffic};

} // namespace

const GemmKernel tile_2d_register_f32 = rung<float>;
const GemmKernel tile_2d_register_f64 = rung<double>;

} // namespace tessera::opencl
