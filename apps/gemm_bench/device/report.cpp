#include "report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "common/terminal.hpp"
#include "core/measure/time_summary.hpp"
#include "gemm_bench/time_json.hpp"

namespace tessera::bench {
namespace {

using Json = nlohmann::ordered_json;
using Samples = std::vector<double> DeviceStanding::*;

constexpr int line_head = 42; ///< width of a product's mode, shape and factors

double median(const std::vector<double>& seconds) { return measure::summarize(seconds).median; }

/// The least median among the standings of a side; infinite where there is none.
double best(const DeviceResult& result, Side side, Samples samples) {
  double least = std::numeric_limits<double>::infinity();
  for (const DeviceStanding& one : result.standings)
    if (one.side == side && one.problem.empty() && !(one.*samples).empty())
      least = std::min(least, median(one.*samples));
  return least;
}

/// The best vendor's time over ours: more than 1 where Tessera is faster. NaN where one of the two is missing.
double ratio(const DeviceResult& result, Samples samples) {
  const double ours = best(result, Side::Ours, samples), theirs = best(result, Side::Vendor, samples);
  return std::isfinite(ours) && std::isfinite(theirs) ? theirs / ours : std::numeric_limits<double>::quiet_NaN();
}

std::string microseconds(const std::vector<double>& seconds) {
  return seconds.empty() ? "-" : fmt::format("{:.1f}", 1e6 * median(seconds));
}
std::string ratio_text(double value) { return std::isnan(value) ? "-" : fmt::format("{:.2f}", value); }

/// A mode's ratios over its products.
struct Ratios {
  double logs = 0;
  int count = 0, below_95 = 0, below_85 = 0;
  double lowest = std::numeric_limits<double>::infinity();
  std::string lowest_product;

  void add(const DeviceResult& result, Samples samples) {
    const double value = ratio(result, samples);
    if (std::isnan(value)) return;
    logs += std::log(value);
    ++count;
    below_95 += value < 0.95;
    below_85 += value < 0.85;
    if (value >= lowest) return;
    lowest = value;
    lowest_product = to_text(result.product);
  }
  std::string text() const {
    if (count == 0) return "no vendor's time to compare with";
    return fmt::format("mean {:.3f}, below 0.95: {}, below 0.85: {} of {}, lowest {:.2f} at {}", std::exp(logs / count),
                       below_95, below_85, count, lowest, lowest_product);
  }
};

/// Returns the modes in the order in which they first occur.
std::vector<std::string> modes_of(const std::vector<DeviceResult>& results) {
  std::vector<std::string> modes;
  for (const DeviceResult& result : results)
    if (std::find(modes.begin(), modes.end(), result.mode) == modes.end()) modes.push_back(result.mode);
  return modes;
}

} // namespace

std::string device_table_head() {
  return apps::pad_right("mode and m×n×k", line_head) +
         fmt::format("{:>36} {:>36} {:>26}  {}\n", "plain calls, µs", "graph, µs", "host, µs",
                     "best vendor / tessera") +
         apps::pad_right("", line_head) +
         fmt::format("{:>12}{:>12}{:>12} {:>12}{:>12}{:>12} {:>9}{:>8}{:>9}  {:>6} {:>6}", "tessera", "cublas",
                     "lt list", "tessera", "cublas", "lt list", "tessera", "cublas", "lt list", "plain", "graph");
}

std::string device_table_line(const DeviceResult& result) {
  std::string line = apps::pad_right(fmt::format("{} {}", result.mode, to_text(result.product)), line_head);
  const auto times = [&](Samples samples, std::array<int, 3> widths) {
    for (std::size_t p = 0; p < widths.size(); ++p)
      line += fmt::format("{:>{}}", p < result.standings.size() ? microseconds(result.standings[p].*samples) : "-",
                          widths[p]);
    line += ' ';
  };
  times(&DeviceStanding::plain, {12, 12, 12});
  times(&DeviceStanding::graph, {12, 12, 12});
  times(&DeviceStanding::host, {9, 8, 9});
  line += fmt::format(" {:>6} {:>6}", ratio_text(ratio(result, &DeviceStanding::plain)),
                      ratio_text(ratio(result, &DeviceStanding::graph)));
  for (const DeviceStanding& one : result.standings)
    if (one.side == Side::Kernel && !one.plain.empty())
      line += fmt::format("\n  {}: plain {}, graph {}, host {}", one.peer, microseconds(one.plain),
                          microseconds(one.graph), microseconds(one.host));
  for (const DeviceStanding& one : result.standings)
    if (!one.problem.empty()) line += fmt::format("\n  {}: {}", one.peer, one.problem);
  return line;
}

std::string device_summary(const std::vector<DeviceResult>& results) {
  std::string text;
  for (const std::string& mode : modes_of(results)) {
    Ratios plain, graph;
    std::vector<double> host;
    for (const DeviceResult& result : results) {
      if (result.mode != mode) continue;
      plain.add(result, &DeviceStanding::plain);
      graph.add(result, &DeviceStanding::graph);
      if (!result.standings[0].host.empty()) host.push_back(median(result.standings[0].host));
    }
    const measure::TimeSummary calls = measure::summarize(host);
    text +=
        fmt::format("{}: best vendor's time over ours\n  plain: {}\n  graph: {}\n", mode, plain.text(), graph.text());
    text += fmt::format("  the host's time for one of our calls: median {:.1f} µs, at most {:.1f} µs\n",
                        1e6 * calls.median, 1e6 * calls.max);
  }
  return text;
}

std::vector<Json> device_entries(const DeviceResult& result) {
  std::vector<Json> entries;
  const RacedProduct& product = result.product;
  for (const DeviceStanding& one : result.standings) {
    Json entry{{"mode", result.mode},
               {"seed", result.seed},
               {"m", product.shape.m},
               {"n", product.shape.n},
               {"k", product.shape.k},
               {"trans_a", product.op_a == Op::Transpose},
               {"trans_b", product.op_b == Op::Transpose},
               {"alpha", product.alpha},
               {"beta", product.beta},
               {"peer", one.peer}};
    if (!one.plain.empty()) entry["plain_seconds"] = time_json(one.plain);
    if (!one.graph.empty()) entry["graph_seconds"] = time_json(one.graph);
    if (!one.host.empty()) entry["host_seconds"] = time_json(one.host);
    if (one.differing_bits >= 0) entry["differing_bits"] = one.differing_bits;
    if (!one.problem.empty()) entry["problem"] = one.problem;
    entries.push_back(std::move(entry));
  }
  return entries;
}

} // namespace tessera::bench
