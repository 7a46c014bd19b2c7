#include "report.hpp"

#include <fmt/format.h>

#include "common/machine.hpp"
#include "core/measure/time_summary.hpp"

namespace tessera::compare_app {
namespace {

double operations(const GemmShape& s) {
  return 2.0 * static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k);
}

double efficiency(const EngineStanding& one, double seconds) {
  return one.seconds_of_one_rank / (seconds * one.grid.rows * one.grid.cols * one.grid.layers);
}

std::string bytes_text(const EngineStanding& one) {
  if (!one.counts_bytes) return fmt::format("{:>21}", "not counted");
  return fmt::format("{:>10.2f} {:>10.2f}", one.bytes_received / 1e6, one.bytes_by_formula / 1e6);
}

nlohmann::ordered_json entry(const EngineStanding& one) {
  nlohmann::ordered_json entry{{"engine", one.engine},
                               {"canonical", one.canonical},
                               {"dtype", to_string(one.type)},
                               {"m", one.shape.m},
                               {"n", one.shape.n},
                               {"k", one.shape.k},
                               {"grid", {one.grid.rows, one.grid.cols, one.grid.layers}}};
  if (!one.problem.empty()) entry["problem"] = one.problem;
  if (one.seconds.empty()) return entry;
  const measure::TimeSummary time = measure::summarize(one.seconds);
  entry["seconds"] = {{"median", time.median}, {"min", time.min}, {"max", time.max}, {"samples", one.seconds.size()}};
  entry["gflops"] = operations(one.shape) / time.median / 1e9;
  entry["seconds_of_one_rank"] = one.seconds_of_one_rank;
  entry["efficiency"] = efficiency(one, time.median);
  entry["seconds_waiting"] = one.seconds_waiting;
  entry["seconds_multiplying"] = one.seconds_multiplying;
  if (one.counts_bytes) {
    entry["bytes_received"] = one.bytes_received;
    entry["bytes_by_formula"] = one.bytes_by_formula;
  }
  entry["differing_bits"] = one.differing;
  entry["largest_difference"] = one.largest_difference;
  return entry;
}

} // namespace

std::string table_head(const GemmShape& shape, DType type, double seconds_of_one_rank) {
  return fmt::format(
      "{}x{}x{} {}, one rank {:.3f} ms\n  {:<8} {:>8} {:>10} {:>9} {:>10} {:>10} {:>10} {:>9} {:>9} {:>8}\n", shape.m,
      shape.n, shape.k, to_string(type), seconds_of_one_rank * 1e3, "engine", "grid", "ms", "GFLOP/s", "efficiency",
      "MB moved", "formula", "wait ms", "local ms", "differ");
}

std::string table_line(const EngineStanding& one) {
  if (one.seconds.empty()) return fmt::format("  {:<8} {}\n", one.engine, one.problem);
  const double seconds = measure::summarize(one.seconds).median;
  return fmt::format("  {:<8} {:>4}x{}x{} {:>10.3f} {:>9.2f} {:>9.0f}% {} {:>9.3f} {:>9.3f} {:>8}{}\n", one.engine,
                     one.grid.rows, one.grid.cols, one.grid.layers, seconds * 1e3,
                     operations(one.shape) / seconds / 1e9, 100 * efficiency(one, seconds), bytes_text(one),
                     one.seconds_waiting * 1e3, one.seconds_multiplying * 1e3, one.differing,
                     one.problem.empty() ? "" : " " + one.problem);
}

nlohmann::ordered_json to_json(const std::vector<EngineStanding>& standings, const Options& options) {
  std::vector<Backend> backends;
  for (const BackendRequest& choice : options.backends) backends.push_back(choice.backend);
  nlohmann::ordered_json results = nlohmann::ordered_json::array();
  for (const EngineStanding& one : standings) results.push_back(entry(one));
  return {{"schema", "tessera.distributed/1"},
          {"machine", apps::machine_json(backends)},
          {"backend", backends.empty() ? "auto" : to_string(backends.front())},
          {"devices", options.devices},
          {"block", options.block},
          {"resident", options.resident},
          {"device_messages", options.device_messages},
          {"threads", options.threads.empty() ? 0 : options.threads.front()},
          {"results", std::move(results)}};
}

} // namespace tessera::compare_app
