/// naive_coalesced: launches 02_naive_coalesced.cl, which says what it does.

#include "rung.hpp"

namespace tessera::opencl {
namespace source {

std::string_view naive_coalesced_cl();

} // namespace source

namespace {

Status run(const GemmKernel&, Executor&, Queue& queue, const GemmCall& call) noexcept {
  return run_rung(queue, {"02_naive_coalesced.cl", source::naive_coalesced_cl}, "naive_coalesced", call,
                  {.tile_m = 4, .tile_n = 32, .group = {32, 4}});
}

template <class T>
constexpr GemmKernel rung{.name = "naive_coalesced",
                          .summary = "a work-item an element, neighbours along a row of C",
                          .source = "CUDA matmul blog; SGEMM repository",
                          .type = dtype_of<T>,
                          .tile = {1, 1, 1},
                          .summation = Summation::Canonical,
                          .run = run,
                          .traffic = tile_traffic};

} // namespace

const GemmKernel naive_coalesced_f32 = rung<float>;
const GemmKernel naive_coalesced_f64 = rung<double>;

} // namespace tessera::opencl
