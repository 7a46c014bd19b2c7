/// segmented: launches 10_segmented.cl, which says what it does.

#include "rung.hpp"

namespace tessera::opencl {
namespace source {

std::string_view segmented_cl();

} // namespace source

namespace {

Status run(const GemmKernel&, Executor&, Queue& queue, const GemmCall& call) noexcept try {
  const Source source{"10_segmented.cl", source::segmented_cl};
  const Index segments = (call.k + canonical_segment - 1) / canonical_segment;
  const std::size_t element = size_of(call.type);
  Scratch sums;
  if (Status status = sums.allocate(queue, static_cast<std::size_t>(segments * call.m * call.n) * element);
      !status.ok())
    return status;
  GemmCall of_sums = call;
  of_sums.c = sums.data();
  of_sums.ldc = call.n;
  RungLaunch launch = register_tiles(call.type, 2, 1);
  launch.layers = static_cast<std::size_t>(segments);
  if (Status status = run_rung(queue, source, "segmented", of_sums, launch); !status.ok()) return status;
  Launch add(queue, source, launch.options(call.type), "add_in_order");
  add.value<cl_long>(call.m).value<cl_long>(call.n).value<cl_long>(segments).operand(sums.data(), element);
  add.operand(call.c, element).value<cl_long>(call.ldc);
  return real_value(real_value(add, call.type, call.alpha), call.type, call.beta)
      .run({static_cast<std::size_t>(call.n), static_cast<std::size_t>(call.m)}, {32, 1});
} catch (const std::bad_alloc&) {
  return {StatusCode::OutOfMemory, {}};
}

template <class T>
constexpr GemmKernel rung{.name = "segmented",
                          .summary = "k cut into the contract's segments, whose sums a second launch adds",
                          .source = "split-K",
                          .type = dtype_of<T>,
                          .tile = {16 * side<T>, 16 * side<T>, 8},
                          .summation = Summation::Canonical,
                          .run = run,
                          .traffic = tile_traffic};

} // namespace

const GemmKernel segmented_f32 = rung<float>;
const GemmKernel segmented_f64 = rung<double>;

} // namespace tessera::opencl
