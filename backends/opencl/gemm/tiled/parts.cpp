#include "parts.hpp"

#include "opencl/queue/element_options.hpp"

namespace tessera::opencl {
namespace source {

std::string_view add_segments_cl();

} // namespace source

Status add_segments(Queue& queue, const GemmCall& call, const SegmentSums& sums) {
  Launch launch(queue, {"add_segments.cl", source::add_segments_cl},
                scalar_option(call.type) + stored_option("Z", call.result), "add_segments");
  launch.value<cl_long>(sums.rows).value<cl_long>(sums.columns).value<cl_long>(sums.segments);
  launch.operand(sums.data, size_of(scalar_of(call.type)));
  launch.operand(sums.c.data, size_of(call.result)).value<cl_long>(sums.c.row).value<cl_long>(sums.c.column);
  return scalar_value(scalar_value(launch, call.type, call.alpha), call.type, call.beta)
      .run({static_cast<std::size_t>(sums.columns), static_cast<std::size_t>(sums.rows)}, {32, 1});
}

} // namespace tessera::opencl
