#include "rung.hpp"

namespace tessera::opencl {

Status run_rung(Queue& queue, const Source& source, const char* kernel, const GemmCall& call,
                const RungLaunch& launch) noexcept try {
  const Device& device = command_queue(queue).context().device();
  const std::size_t items = launch.group[0] * launch.group[1], bytes = launch.local_elements * size_of(call.type);
  if (items > device.most_work_items)
    return {StatusCode::Rejected, std::string(source.name) + " has work-groups of " + std::to_string(items) +
                                      " work-items, and " + device.name + " allows " +
                                      std::to_string(device.most_work_items) + "; leave the kernel to the executor"};
  if (bytes > device.local_bytes)
    return {StatusCode::Rejected, std::string(source.name) + " takes " + std::to_string(bytes) +
                                      " bytes of local memory, and " + device.name + " has " +
                                      std::to_string(device.local_bytes) + "; leave the kernel to the executor"};
  if (Status status = keeps_contract(queue, call.type); !status.ok()) return status;
  Launch started(queue, source, launch.options(call.type), kernel);
  strided_operands(started, call);
  const auto groups = [](Index extent, Index tile) { return static_cast<std::size_t>((extent + tile - 1) / tile); };
  const std::size_t down = groups(call.m, launch.tile_m), across = groups(call.n, launch.tile_n);
  const std::size_t first = launch.rows_first ? down : across, second = launch.rows_first ? across : down;
  return started.run_3d({first * launch.group[0], second * launch.group[1], launch.layers},
                        {launch.group[0], launch.group[1], 1});
} catch (const std::bad_alloc&) {
  return {StatusCode::OutOfMemory, {}};
}

} // namespace tessera::opencl
