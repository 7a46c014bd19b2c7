/// naive_strided: launches 01_naive_strided.cl, which says what it does.

#include "rung.hpp"

namespace tessera::opencl {
namespace source {

std::string_view naive_strided_cl();

} // namespace source

namespace {

Status run(const GemmKernel&, Executor&, Queue& queue, const GemmCall& call) noexcept {
  return run_rung(queue, {"01_naive_strided.cl", source::naive_strided_cl}, "naive_strided", call,
                  {.tile_m = 32, .tile_n = 8, .group = {32, 8}, .rows_first = true});
}

template <class T>
constexpr GemmKernel rung{.name = "naive_strided",
                          .summary = "a work-item an element, neighbours along a column: uncoalesced on purpose",
                          .source = "CUDA matmul blog; SGEMM repository",
                          .type = dtype_of<T>,
                          .tile = {1, 1, 1},
                          .summation = Summation::Canonical,
                          .run = run,
                          .traffic = tile_traffic};

} // namespace

const GemmKernel naive_strided_f32 = rung<float>;
const GemmKernel naive_strided_f64 = rung<double>;

} // namespace tessera::opencl
