/// double_buffer: launches 07_double_buffer.cl, which says what it does.

#include "rung.hpp"

namespace tessera::opencl {
namespace source {

std::string_view double_buffer_cl();

} // namespace source

namespace {

Status run(const GemmKernel&, Executor&, Queue& queue, const GemmCall& call) noexcept {
  return run_rung(queue, {"07_double_buffer.cl", source::double_buffer_cl}, "double_buffer", call,
                  register_tiles(call.type, 2, 0));
}

template <class T>
constexpr GemmKernel rung{.name = "double_buffer",
                          .summary = "float4 with two buffers: reads overlap the fma, one barrier a tile",
                          .source = "SGEMM repository",
                          .type = dtype_of<T>,
                          .tile = {16 * side<T>, 16 * side<T>, 8},
                          .summation = Summation::Canonical,
                          .run = run,
                          .traffic = tile_traffic};

} // namespace

const GemmKernel double_buffer_f32 = rung<float>;
const GemmKernel double_buffer_f64 = rung<double>;

} // namespace tessera::opencl
