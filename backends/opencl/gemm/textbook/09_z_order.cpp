/// z_order: launches 09_z_order.cl, which says what it does.

#include "rung.hpp"

namespace tessera::opencl {
namespace source {

std::string_view z_order_cl();

} // namespace source

namespace {

Status run(const GemmKernel&, Executor&, Queue& queue, const GemmCall& call) noexcept {
  return run_rung(queue, {"09_z_order.cl", source::z_order_cl}, "z_order", call, register_tiles(call.type, 2, 1));
}

template <class T>
constexpr GemmKernel rung{.name = "z_order",
                          .summary = "conflict_free with work-items in Z-order: reads without conflicts too",
                          .source = "SGEMM repository",
                          .type = dtype_of<T>,
                          .tile = {16 * side<T>, 16 * side<T>, 8},
                          .summation = Summation::Canonical,
                          .run = run,
                          .traffic = tile_traffic};

} // namespace

const GemmKernel z_order_f32 = rung<float>;
const GemmKernel z_order_f64 = rung<double>;

} // namespace tessera::opencl
