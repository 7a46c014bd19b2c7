/// conflict_free: launches 08_conflict_free.cl, which says what it does.

#include "rung.hpp"

namespace tessera::opencl {
namespace source {

std::string_view conflict_free_cl();

} // namespace source

namespace {

Status run(const GemmKernel&, Executor&, Queue& queue, const GemmCall& call) noexcept {
  return run_rung(queue, {"08_conflict_free.cl", source::conflict_free_cl}, "conflict_free", call,
                  register_tiles(call.type, 2, 1));
}

template <class T>
constexpr GemmKernel rung{.name = "conflict_free",
                          .summary = "double_buffer with padded rows: no bank conflicts on stores",
                          .source = "SGEMM repository",
                          .type = dtype_of<T>,
                          .tile = {16 * side<T>, 16 * side<T>, 8},
                          .summation = Summation::Canonical,
                          .run = run,
                          .traffic = tile_traffic};

} // namespace

const GemmKernel conflict_free_f32 = rung<float>;
const GemmKernel conflict_free_f64 = rung<double>;

} // namespace tessera::opencl
