#include "ceilings.hpp"

#include <algorithm>

#include <tessera/detail/stopwatch.hpp>

#include "opencl/elementwise/elementwise.hpp"
#include "opencl/elementwise/options.hpp"
#include "opencl/memory/copies.hpp"
#include "opencl/queue/scratch.hpp"

namespace tessera::opencl {
namespace source {

std::string_view fma_probe_cl();

} // namespace source

namespace {

constexpr double seconds_per_run = 0.01;
constexpr int runs = 5; // the fastest one counts
constexpr std::size_t group = 64;
constexpr std::size_t groups_per_unit = 32;
constexpr double steps_per_round = 8 * 64; // of a work-item: chains, and steps of each
constexpr std::size_t largest_copy = std::size_t{512} << 20;

Status measure_flops(Queue& queue, DType type, measure::Stopwatch& watch, double& flops) {
  if (Status status = has_type(queue, type); !status.ok()) return status;
  const Device& device = command_queue(queue).context().device();
  const bool wide = scalar_of(type) == DType::F64;
  const auto width = static_cast<std::size_t>(wide ? device.f64_vector : device.f32_vector);
  const std::string vector = (wide ? "double" : "float") + (width > 1 ? std::to_string(width) : std::string());
  const std::size_t items = static_cast<std::size_t>(device.compute_units) * groups_per_unit * group;
  const std::size_t element = width * size_of(scalar_of(type));
  Scratch results;
  if (Status status = results.allocate(queue, items * element); !status.ok()) return status;
  const auto launch = [&](int rounds) {
    Launch probe(queue, {"fma_probe.cl", source::fma_probe_cl}, scalar_option(type) + " -D VECTOR=" + vector,
                 "fma_chains");
    scalar_value(scalar_value(probe, type, 0.75), type, 0.25);
    return probe.value<cl_int>(rounds).operand(results.data(), element).run({items, 1}, {group, 1});
  };
  int rounds = 1;
  for (int run = 0; run <= runs; ++run) {
    if (Status status = watch.time([&] { return launch(rounds); }); !status.ok()) return status;
    if (run == 0) { // the first run compiles the kernel
      if (Status status = watch.time([&] { return launch(rounds); }); !status.ok()) return status;
      rounds = static_cast<int>(std::clamp(seconds_per_run / std::max(watch.seconds(), 1e-6), 1.0, 1e6));
    } else if (watch.seconds() > 0) {
      const double steps = steps_per_round * static_cast<double>(items * width) * rounds;
      flops = std::max(flops, 2 * steps / watch.seconds());
    }
  }
  return {};
}

/// Measures the bytes read plus the bytes written a second when the device copies a buffer that no cache holds.
Status measure_bandwidth(Queue& queue, measure::Stopwatch& watch, double& bytes_per_second) {
  const Device& device = command_queue(queue).context().device();
  const std::size_t bytes = std::min({largest_copy, device.most_bytes / 4, device.memory_bytes / 16});
  Scratch from, to;
  if (Status status = from.allocate(queue, bytes); !status.ok()) return status;
  if (Status status = to.allocate(queue, bytes); !status.ok()) return status;
  MapCall fill{.op = MapOp::Fill, .rows = 1, .cols = static_cast<Index>(bytes / sizeof(float)), .z = from.data()};
  fill.ldz = fill.cols;
  if (Status status = map(queue, fill); !status.ok()) return status; // memory that nothing wrote need not be there
  for (int run = 0; run <= runs; ++run) {
    const Status status = watch.time([&] {
      const CommandQueue& commands = command_queue(queue);
      return copy_within(commands.memory(), commands.get(), to.data(), from.data(), {bytes, bytes, bytes, 1});
    });
    if (!status.ok()) return status;
    if (run > 0 && watch.seconds() > 0)
      bytes_per_second = std::max(bytes_per_second, 2.0 * static_cast<double>(bytes) / watch.seconds());
  }
  return {};
}

} // namespace

Status measure_ceilings(Executor& executor, Queue& queue, DType type, Ceilings& ceilings) {
  ceilings = {};
  measure::Stopwatch watch(executor, queue);
  if (Status status = measure_flops(queue, type, watch, ceilings.flops); !status.ok()) return status;
  return measure_bandwidth(queue, watch, ceilings.bytes_per_second);
}

} // namespace tessera::opencl
