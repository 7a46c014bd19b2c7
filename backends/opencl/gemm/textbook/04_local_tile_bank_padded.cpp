/// local_tile_bank_padded: launches 04_local_tile_bank_padded.cl, which says what it does.

#include "rung.hpp"

namespace tessera::opencl {
namespace source {

std::string_view local_tile_bank_padded_cl();

} // namespace source

namespace {

Status run(const GemmKernel&, Executor&, Queue& queue, const GemmCall& call) noexcept {
  return run_rung(queue, {"04_local_tile_bank_padded.cl", source::local_tile_bank_padded_cl}, "local_tile_bank_padded",
                  call, {.tile_m = 16, .tile_n = 16, .group = {16, 16}, .local_elements = 2 * 16 * 17});
}

template <class T>
constexpr GemmKernel rung{.name = "local_tile_bank_padded",
                          .summary = "local_tile with rows one longer: a column's elements in different banks",
                          .source = "kernel walkthrough",
                          .type = dtype_of<T>,
                          .tile = {16, 16, 16},
                          .summation = Summation::Canonical,
                          .run = run,
                          .traffic = tile_traffic};

} // namespace

const GemmKernel local_tile_bank_padded_f32 = rung<float>;
const GemmKernel local_tile_bank_padded_f64 = rung<double>;

} // namespace tessera::opencl
