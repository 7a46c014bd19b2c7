#include "race.hpp"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include <tessera/performance/recording.hpp>

#include "core/measure/repeat.hpp"
#include "operands.hpp"

namespace tessera::bench {
namespace {

/// Calls whose enqueueing is timed on the host: fewer than a device's queue takes before the host has to wait.
constexpr long most_host_calls = 64;
/// Calls of a graph: enough that its own start does not count.
constexpr long most_graph_calls = 256;

/// One peer and one product.
class Runner {
 public:
  Runner(Executor& device, DevicePeer& peer, DeviceOperands& operands)
      : device_(device), watch_(device), peer_(peer), operands_(operands) {}

  /// Lets the peer load its code and choose its kernel, then finds how many calls a sample has.
  Status prepare(double sample_seconds) {
    if (Status status = watch_.time([&] { return enqueue(3); }); !status.ok()) return status;
    if (Status status = watch_.time([&] { return enqueue(3); }); !status.ok()) return status;
    calls_ = measure::calls_per_sample(sample_seconds, watch_.seconds() / 3);
    graph_calls_ = std::min(calls_, most_graph_calls);
    Queue& queue = device_.default_queue();
    // A product that cannot be recorded has no times of graphs.
    if (!record(
             queue, [&] { return enqueue(graph_calls_); }, graph_)
             .ok())
      graph_.reset();
    return graph_ ? watch_.time([&] { return graph_->replay(queue); }) : Status{};
  }

  Status sample(DeviceStanding& standing) {
    Queue& queue = device_.default_queue();
    if (graph_) {
      if (Status status = watch_.time([&] { return graph_->replay(queue); }); !status.ok()) return status;
      standing.graph.push_back(watch_.seconds() / static_cast<double>(graph_calls_));
    }
    const long host_calls = std::min(calls_, most_host_calls);
    Status enqueued;
    const double host = measure::host_seconds([&] { enqueued = enqueue(host_calls); });
    if (!enqueued.ok()) return enqueued;
    standing.host.push_back(host / static_cast<double>(host_calls));
    if (Status status = watch_.time([&] { return enqueue(calls_); }); !status.ok()) return status;
    standing.plain.push_back(watch_.seconds() / static_cast<double>(calls_));
    return {};
  }

  /// Computes one product and waits for it.
  Status run_once() {
    return watch_.time([&] { return enqueue(1); });
  }

 private:
  Status enqueue(long calls) {
    for (long i = 0; i < calls; ++i)
      if (Status status = peer_.enqueue(device_.default_queue(), operands_.next()); !status.ok()) return status;
    return {};
  }

  Executor& device_;
  measure::Stopwatch watch_;
  DevicePeer& peer_;
  DeviceOperands& operands_;
  long calls_ = 1;
  long graph_calls_ = 1;
  std::unique_ptr<Recording> graph_;
};

/// Writes into the standing what is wrong with the last product, and how many elements lack the contract's bits.
void check(const DeviceOperands& operands, const Arithmetic& arithmetic, DeviceStanding& standing) {
  const GemmError error = operands.error(arithmetic);
  if (has_contract(arithmetic.summation)) standing.differing_bits = error.differing_bits;
  if (!error.within_bound())
    standing.problem = fmt::format("wrong: {:.3g} times the error bound at ({}, {})", error.max_over_bound,
                                   error.worst_row, error.worst_col);
  else if (standing.differing_bits > 0)
    standing.problem = fmt::format("wrong: {} elements without the contract's bits", standing.differing_bits);
}

} // namespace

std::vector<DeviceStanding> run_device_race(Executor& device, const DeviceMode& mode, const RacedProduct& product,
                                            const DevicePeers& peers, int rounds, double sample_seconds) {
  DeviceOperands operands(device, mode, product);
  std::vector<DeviceStanding> standings;
  std::vector<std::unique_ptr<Runner>> runners;
  for (const auto& peer : peers) {
    DeviceStanding standing{.peer = peer->name(), .side = peer->side()};
    runners.push_back(std::make_unique<Runner>(device, *peer, operands));
    if (Status status = runners.back()->prepare(sample_seconds); !status.ok()) standing.problem = status.why;
    standings.push_back(std::move(standing));
  }
  for (int round = 0; round < rounds; ++round)
    measure::take_rotated_turns(round, peers.size(), [&](std::size_t p) {
      if (!standings[p].problem.empty()) return;
      const bool last = round + 1 == rounds;
      if (last || operands.reads_c()) operands.reset_c();
      Status status = runners[p]->sample(standings[p]);
      if (last && status.ok() && operands.reads_c()) {
        operands.reset_c();
        status = runners[p]->run_once();
      }
      if (!status.ok()) standings[p].problem = status.why;
      if (last && standings[p].problem.empty()) check(operands, peers[p]->arithmetic(mode), standings[p]);
    });
  return standings;
}

} // namespace tessera::bench
