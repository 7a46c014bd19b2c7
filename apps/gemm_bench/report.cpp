#include "report.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

#include <fmt/format.h>

#include "common/terminal.hpp"
#include "core/measure/time_summary.hpp"
#include "probe.hpp"
#include "time_json.hpp"

namespace tessera::bench {
namespace {

using Json = nlohmann::ordered_json;
using measure::summarize;
using measure::TimeSummary;

constexpr int line_head = 38; ///< width of a product's type, shape and factors

double median(const std::vector<double>& seconds) { return summarize(seconds).median; }

bool is_tessera(const std::string& peer) { return peer.starts_with("tessera-"); }
/// True for libraries. The probe is none: nothing that multiplies matrices can be faster.
bool is_library(const std::string& peer) { return !is_tessera(peer) && peer != probe_name; }

double gflops(const Race& race, double seconds) { return 2e-9 * multiply_adds(race.product) / seconds; }

std::string shape_text(const Race& race) { return fmt::format("{} {}", to_string(race.type), to_text(race.product)); }

const Standing* fastest(const std::vector<Standing>& standings, bool (*counts)(const std::string&)) {
  const Standing* best = nullptr;
  for (const Standing& one : standings)
    if (counts(one.peer) && !one.seconds.empty() && one.problem.empty() &&
        (best == nullptr || median(one.seconds) < median(best->seconds)))
      best = &one;
  return best;
}

} // namespace

std::string table_head(const std::vector<std::string>& peers) {
  std::string line = apps::pad_right("m×n×k", line_head) + "  thr";
  for (const std::string& peer : peers) line += fmt::format("  {:>14}", peer);
  return line + "  tessera / best library";
}

std::string table_line(const Race& race, const std::vector<Standing>& standings) {
  std::string line = apps::pad_right(shape_text(race), line_head) + fmt::format("  {:>3}", race.threads);
  for (const Standing& one : standings)
    line += one.problem.empty() ? fmt::format("  {:>14.1f}", gflops(race, median(one.seconds)))
                                : fmt::format("  {:>14}", one.seconds.empty() ? "-" : "WRONG");
  const Standing* ours = fastest(standings, is_tessera);
  const Standing* theirs = fastest(standings, is_library);
  if (ours != nullptr && theirs != nullptr) {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < ours->seconds.size(); ++i) ratios.push_back(theirs->seconds[i] / ours->seconds[i]);
    const TimeSummary ratio = summarize(ratios);
    line += fmt::format("  {:>5.2f} ({:.2f} … {:.2f}) of {}", ratio.median, ratio.min, ratio.max, theirs->peer);
  }
  return line;
}

std::vector<Json> entries(const Race& race, const std::vector<Standing>& standings) {
  std::vector<Json> all;
  for (const Standing& one : standings) {
    const RacedProduct& product = race.product;
    Json entry{{"dtype", to_string(race.type)},
               {"m", product.shape.m},
               {"n", product.shape.n},
               {"k", product.shape.k},
               {"trans_a", product.op_a == Op::Transpose},
               {"trans_b", product.op_b == Op::Transpose},
               {"alpha", product.alpha},
               {"beta", product.beta},
               {"threads", race.threads},
               {"peer", one.peer}};
    if (!one.seconds.empty()) {
      const TimeSummary time = summarize(one.seconds);
      entry["gflops"] = gflops(race, time.median);
      entry["seconds"] = time_json(one.seconds);
    }
    if (!one.problem.empty()) entry["problem"] = one.problem;
    all.push_back(std::move(entry));
  }
  return all;
}

std::string summary(const std::vector<Json>& entries) {
  using Key = std::tuple<std::string, int, Index, Index, Index, bool, bool, double, double>;
  const auto key = [](const Json& entry) {
    return Key{entry["dtype"],   entry["threads"], entry["m"],     entry["n"],   entry["k"],
               entry["trans_a"], entry["trans_b"], entry["alpha"], entry["beta"]};
  };
  std::map<Key, double> ours;
  for (const Json& entry : entries)
    if (is_tessera(entry["peer"]) && entry.contains("gflops")) {
      double& best = ours[key(entry)];
      best = std::max(best, entry["gflops"].get<double>());
    }
  struct Mean {
    double logs = 0;
    int shapes = 0;
  };
  std::map<std::tuple<std::string, int, std::string, bool>, Mean> means;
  for (const Json& entry : entries) {
    const std::string peer = entry["peer"];
    if (!is_library(peer) || !entry.contains("gflops") || !ours.contains(key(entry))) continue;
    Mean& mean = means[{entry["dtype"], entry["threads"], peer, entry["beta"] != 0.0}];
    mean.logs += std::log(ours[key(entry)] / entry["gflops"].get<double>());
    ++mean.shapes;
  }
  std::string text;
  for (const auto& [who, mean] : means)
    text += fmt::format("{}, {} thread{}, beta {} 0: {:.2f} × {} (geometric mean of {} products)\n", std::get<0>(who),
                        std::get<1>(who), std::get<1>(who) == 1 ? "" : "s", std::get<3>(who) ? "not" : "=",
                        std::exp(mean.logs / mean.shapes), std::get<2>(who), mean.shapes);
  return text;
}

} // namespace tessera::bench
