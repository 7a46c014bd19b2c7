#include "opencl/gemm/common/tiled.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>

#include <tessera/backend/log.hpp>

#include "local_tile.hpp"
#include "opencl/queue/element_options.hpp"
#include "opencl/queue/scratch.hpp"
#include "parts.hpp"

namespace tessera::opencl {
namespace source {

std::string_view local_tiles_cl();
std::string_view pack_by_groups_cl();

} // namespace source

namespace {

constexpr Source local_tiles{"local_tiles.cl", source::local_tiles_cl};
constexpr const char* kernel_name = "local_tiles";

/// True if copying the operands to panels pays: each element is read by many tiles, and the product takes longer than
/// two launches more.
bool packs(const Device& device, const GemmCall& call) noexcept {
  constexpr Index least_side = 384;
  constexpr double steps_of_two_launches = 6e6; // multiply-adds of a compute unit
  const double steps = static_cast<double>(call.m) * static_cast<double>(call.n) * static_cast<double>(call.k);
  return std::min(call.m, call.n) >= least_side && steps > steps_of_two_launches * std::max(device.compute_units, 1);
}

/// One product, or a batch, which packs nothing.
class LocalProduct {
 public:
  LocalProduct(Queue& queue, const GemmCall& call, const BatchSteps& steps, bool with_panels, const LocalTile& tile)
      : queue_(queue),
        call_(call),
        steps_(steps),
        packs_(with_panels),
        real_bytes_(static_cast<Index>(size_of(scalar_of(call.type)))),
        tile_(tile),
        a_(Operand::of(call.a, call.op_a, call.lda)),
        b_(Operand::of(call.b, call.op_b, call.ldb)) {
    // Where there are few tiles, work-groups share out the segments of k.
    const auto all = static_cast<Index>(tiles_over(call.k, canonical_segment));
    const Index units = command_queue(queue).context().device().compute_units;
    const auto tiles = static_cast<Index>(tiles_over(call.m, tile_.height()) * tiles_over(call.n, tile_.width()));
    segments_ = steps.count == 1 && tiles < 2 * units ? all : 1;
    keeps_ = segments_ == 1 && all > 1;
  }

  /// Rejected if the device's work-groups or local memory are too small, or if its compiler keeps variables of a
  /// work-item in memory, which `may_spill` allows.
  Status fits(bool may_spill) {
    Context& context = command_queue(queue_).context();
    const Device& device = context.device();
    const auto items = static_cast<std::size_t>(tile_.items());
    if (device.most_work_items < items)
      return {StatusCode::Rejected, "tiled_local has work-groups of " + std::to_string(items) + " work-items, and " +
                                        device.name + " allows " + std::to_string(device.most_work_items)};
    const std::size_t bytes = tile_.local_bytes(real_bytes_);
    if (device.local_bytes < bytes)
      return {StatusCode::Rejected, "tiled_local takes " + std::to_string(bytes) + " bytes of local memory, and " +
                                        device.name + " has " + std::to_string(device.local_bytes)};
    if (Status status = context.program(local_tiles, options(), program_); !status.ok()) return status;
    KernelNeeds needs;
    if (Status status = program_->needs(kernel_name, device.id, needs); !status.ok()) return status;
    if (needs.most_work_items < items)
      return {StatusCode::Rejected, "tiled_local has work-groups of " + std::to_string(items) + " work-items, and " +
                                        device.name + " has registers for " + std::to_string(needs.most_work_items)};
    if (needs.private_bytes > 0 && !may_spill)
      return {StatusCode::Rejected, "tiled_local keeps " + std::to_string(needs.private_bytes) +
                                        " bytes of a work-item in memory on " + device.name};
    return {};
  }

  /// Precondition: the product fits.
  Status run() {
    const Index height = rounded_up(call_.m, tile_.height()), width = rounded_up(call_.n, tile_.width());
    const Index of_a = packs_ ? height * call_.k : 0, of_b = packs_ ? width * call_.k : 0;
    const Index of_sums = segments_ > 1 ? segments_ * call_.m * call_.n : keeps_ ? height * width * steps_.count : 0;
    Scratch scratch;
    // All parts begin on cache lines.
    constexpr Index line = 16;
    const Index at_b = rounded_up(of_a, line), at_sums = at_b + rounded_up(of_b, line), all = at_sums + of_sums;
    if (all > 0)
      if (Status status = scratch.allocate(queue_, static_cast<std::size_t>(all * real_bytes_)); !status.ok())
        return status;
    const auto place = [&](Index element) { return scratch.as<char>() + element * real_bytes_; };
    if (packs_) {
      const void* const to_a = place(0);
      const void* const to_b = place(at_b);
      if (Status status = pack(call_.m, a_, tile_.height(), to_a); !status.ok()) return status;
      if (Status status = pack(call_.n, {b_.data, b_.column, b_.row}, tile_.width(), to_b); !status.ok()) return status;
      a_.data = to_a;
      b_.data = to_b;
    }
    const void* const sums = of_sums > 0 ? place(at_sums) : nullptr;
    if (Status status = multiply(sums); !status.ok()) return status;
    if (segments_ == 1) return {};
    return add_segments(queue_, call_, {call_.m, call_.n, segments_, sums, {call_.c, call_.ldc, 1}});
  }

 private:
  /// Copies `outer` lines of k elements, whose strides are row and column, to panels of `width` lines.
  Status pack(Index outer, const Operand& lines, Index width, const void* to) const {
    Launch launch(queue_, {"pack_by_groups.cl", source::pack_by_groups_cl},
                  scalar_option(call_.type) + stored_option("X", call_.type) + defined("WIDTH", width),
                  "pack_by_groups");
    launch.value<cl_long>(outer).value<cl_long>(call_.k).operand(lines.data, size_of(call_.type));
    return launch.value<cl_long>(lines.row)
        .value<cl_long>(lines.column)
        .operand(to, static_cast<std::size_t>(real_bytes_))
        .run({static_cast<std::size_t>(rounded_up(outer, width)), static_cast<std::size_t>(call_.k)}, {16, 16});
  }

  bool splits() const noexcept { return segments_ > 1; }
  /// The type of the results that the kernel stores, and of the operands that it reads.
  DType stored() const noexcept { return splits() ? scalar_of(call_.type) : call_.result; }
  DType read() const noexcept { return packs_ ? scalar_of(call_.type) : call_.type; }
  Index vector() const noexcept { return vector_bytes / real_bytes_; }

  std::string options() const {
    std::string options = scalar_option(call_.type) + defined("VEC", vector()) + defined("MR", tile_.rows) +
                          defined("NR", tile_.columns) + defined("GY", tile_.down) + defined("GX", tile_.across) +
                          defined("TILE_K", tile_.depth) + stored_option("X", read()) + stored_option("Z", stored());
    if (packs_) options += " -D PACKED";
    if (stored() == scalar_of(call_.type)) options += " -D VECTOR_RESULTS";
    return options;
  }

  /// Multiplies into C, or each segment of k into sums.
  Status multiply(const void* sums) const {
    const bool splits = this->splits();
    const Index ldc = splits ? call_.n : call_.ldc, c_step = splits ? call_.m * call_.n : steps_.c;
    const void* const c = splits ? sums : call_.c;
    const bool whole_vectors = ldc % vector() == 0 && c_step % vector() == 0 &&
                               reinterpret_cast<std::uintptr_t>(c) % static_cast<std::uintptr_t>(vector_bytes) == 0;
    Launch launch(queue_, *program_, kernel_name);
    launch.value<cl_long>(call_.m).value<cl_long>(call_.n).value<cl_long>(call_.k);
    launch.operand(a_.data, size_of(read())).value<cl_long>(a_.row).value<cl_long>(a_.column).value<cl_long>(steps_.a);
    launch.operand(b_.data, size_of(read())).value<cl_long>(b_.row).value<cl_long>(b_.column).value<cl_long>(steps_.b);
    launch.operand(c, size_of(stored())).value<cl_long>(ldc).value<cl_long>(c_step);
    scalar_value(scalar_value(launch, call_.type, splits ? 1 : call_.alpha), call_.type, splits ? 0 : call_.beta);
    launch.value<cl_int>(splits ? 1 : 0).value<cl_int>(whole_vectors ? 1 : 0);
    launch.operand(keeps_ ? sums : nullptr, static_cast<std::size_t>(real_bytes_));
    const auto items = static_cast<std::size_t>(tile_.items());
    const std::size_t tiles = tiles_over(call_.m, tile_.height()) * tiles_over(call_.n, tile_.width());
    return launch.run({tiles * items, static_cast<std::size_t>(splits ? segments_ : steps_.count)}, {items, 1});
  }

  Queue& queue_;
  const GemmCall& call_;
  BatchSteps steps_;
  bool packs_;
  Index real_bytes_;
  LocalTile tile_;
  Operand a_, b_;
  Index segments_ = 1;         ///< of k, that work-groups share out
  bool keeps_ = false;         ///< sums of the segments before are kept in memory
  Program* program_ = nullptr; ///< which fits() finds
};

} // namespace

Status run_in_local_memory(Queue& queue, const GemmCall& call, const BatchSteps& steps) {
  const Device& device = command_queue(queue).context().device();
  for (const bool with_panels : {true, false}) {
    if (with_panels && (steps.count > 1 || !packs(device, call))) continue;
    const std::span<const LocalTile> tiles = local_tiles_of(call, with_panels);
    for (const LocalTile& tile : tiles) {
      const bool is_last = &tile == &tiles.back();
      LocalProduct product(queue, call, steps, with_panels, tile);
      Status status = product.fits(is_last);
      if (status.code == StatusCode::Rejected && !is_last) {
        if (log_dispatch()) log_line("opencl: a smaller tile is taken: " + status.why);
        continue;
      }
      if (status.ok()) status = product.run();
      if (status.code == StatusCode::Rejected) status.why += "; use naive_coalesced";
      if (status.code != StatusCode::OutOfMemory && (status.code != StatusCode::Rejected || !with_panels))
        return status;
      break;
    }
  }
  return run_in_registers(queue, call, steps); // which needs no memory of its own
}

} // namespace tessera::opencl
