/// float4: launches 06_float4.cl, which says what it does.

#include "rung.hpp"

namespace tessera::opencl {
namespace source {

std::string_view float4_cl();

} // namespace source

namespace {

Status run(const GemmKernel&, Executor&, Queue& queue, const GemmCall& call) noexcept {
  return run_rung(queue, {"06_float4.cl", source::float4_cl}, "float4_tiles", call, register_tiles(call.type, 1, 0));
}

template <class T>
constexpr GemmKernel rung{.name = "float4",
                          .summary = "128-bit reads everywhere, A transposed on its way to local memory",
                          .source = "SGEMM repository",
                          .type = dtype_of<T>,
                          .tile = {16 * side<T>, 16 * side<T>, 8},
                          .summation = Summation::Canonical,
                          .run = run,
                          .traffic = tile_traffic};

} // namespace

const GemmKernel float4_f32 = rung<float>;
const GemmKernel float4_f64 = rung<double>;

} // namespace tessera::opencl
