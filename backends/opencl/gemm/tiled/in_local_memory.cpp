#include "opencl/gemm/common/tiled.hpp"

#include "opencl/queue/element_options.hpp"
#include "opencl/queue/scratch.hpp"
#include "parts.hpp"

namespace tessera::opencl {
namespace source {

std::string_view local_panels_cl();
std::string_view pack_by_groups_cl();

} // namespace source

namespace {

constexpr std::size_t group = 256;

/// A product with its operands in panels.
struct PanelProduct {
  Queue& queue;
  const GemmCall& call;
  int side = scalar_of(call.type) == DType::F64 ? 4 : 8; ///< results of a work-item along each side
  Index tile = 16 * side;
  std::size_t real_bytes = size_of(scalar_of(call.type));

  /// Copies `outer` lines of k elements, whose strides are row and column, to panels.
  Status pack(Index outer, const Operand& lines, const void* to) const {
    Launch launch(queue, {"pack_by_groups.cl", source::pack_by_groups_cl},
                  scalar_option(call.type) + stored_option("X", call.type) + defined("WIDTH", tile), "pack_by_groups");
    launch.value<cl_long>(outer).value<cl_long>(call.k).operand(lines.data, size_of(call.type));
    return launch.value<cl_long>(lines.row)
        .value<cl_long>(lines.column)
        .operand(to, real_bytes)
        .run({static_cast<std::size_t>(rounded_up(outer, tile)), static_cast<std::size_t>(call.k)}, {16, 16});
  }

  /// Multiplies the panels into C, or each segment of k into sums.
  Status multiply(const void* a, const void* b, const void* sums, Index segments) const {
    const bool splits = segments > 1;
    const DType stored = splits ? scalar_of(call.type) : call.result;
    Launch launch(
        queue, {"local_panels.cl", source::local_panels_cl},
        scalar_option(call.type) + defined("SIDE", side) + defined("HALF", side / 2) + stored_option("Z", stored),
        "local_panels");
    launch.value<cl_long>(call.m).value<cl_long>(call.n).value<cl_long>(call.k);
    launch.operand(a, real_bytes).operand(b, real_bytes).operand(splits ? sums : call.c, size_of(stored));
    launch.value<cl_long>(splits ? call.n : call.ldc).value<cl_long>(splits ? call.m * call.n : 0);
    scalar_value(scalar_value(launch, call.type, splits ? 1 : call.alpha), call.type, splits ? 0 : call.beta);
    return launch.value<cl_int>(splits ? 1 : 0)
        .run({tiles_over(call.m, tile) * tiles_over(call.n, tile) * group, static_cast<std::size_t>(segments)},
             {group, 1});
  }
};

/// Rejects a device whose work-groups or local memory are too small.
Status fits(const Device& device, std::size_t local_bytes) {
  if (device.most_work_items < group)
    return {StatusCode::Rejected, "tiled_local has work-groups of " + std::to_string(group) + " work-items, and " +
                                      device.name + " allows " + std::to_string(device.most_work_items) +
                                      "; use naive_coalesced"};
  if (device.local_bytes < local_bytes)
    return {StatusCode::Rejected, "tiled_local takes " + std::to_string(local_bytes) + " bytes of local memory, and " +
                                      device.name + " has " + std::to_string(device.local_bytes) +
                                      "; use naive_coalesced"};
  return {};
}

} // namespace

Status run_in_local_memory(Queue& queue, const GemmCall& call) {
  const PanelProduct product{queue, call};
  const Device& device = command_queue(queue).context().device();
  constexpr std::size_t buffers = 4, steps = 8;
  if (Status status = fits(device, buffers * steps * static_cast<std::size_t>(product.tile) * product.real_bytes);
      !status.ok())
    return status;
  // Where there are few tiles, work-groups share out the segments of k.
  const auto tiles = static_cast<Index>(tiles_over(call.m, product.tile) * tiles_over(call.n, product.tile));
  const auto all_segments = static_cast<Index>(tiles_over(call.k, canonical_segment));
  const Index segments = tiles < 2 * Index{device.compute_units} ? all_segments : 1;
  const Index of_a = rounded_up(call.m, product.tile) * call.k, of_b = rounded_up(call.n, product.tile) * call.k;
  const Index of_sums = segments > 1 ? segments * call.m * call.n : 0;
  Scratch scratch;
  if (Status status = scratch.allocate(queue, static_cast<std::size_t>(of_a + of_b + of_sums) * product.real_bytes);
      !status.ok())
    return status.code == StatusCode::OutOfMemory ? run_in_registers(queue, call, {}) : status;
  const char* const a = scratch.as<char>();
  const char* const b = a + static_cast<std::size_t>(of_a) * product.real_bytes;
  const char* const sums = b + static_cast<std::size_t>(of_b) * product.real_bytes;
  const Operand op_a = Operand::of(call.a, call.op_a, call.lda), op_b = Operand::of(call.b, call.op_b, call.ldb);
  if (Status status = product.pack(call.m, op_a, a); !status.ok()) return status;
  if (Status status = product.pack(call.n, {op_b.data, op_b.column, op_b.row}, b); !status.ok()) return status;
  if (Status status = product.multiply(a, b, sums, segments); !status.ok()) return status;
  return segments == 1 ? Status{} : add_segments(queue, call, {call.m, call.n, segments, sums, {call.c, call.ldc, 1}});
}

} // namespace tessera::opencl
