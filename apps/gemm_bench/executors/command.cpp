#include "command.hpp"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include <tessera/backend.hpp>
#include <tessera/io.hpp>

#include "common/machine.hpp"
#include "common/terminal.hpp"
#include "common/words.hpp"
#include "gemm_bench/time_json.hpp"
#include "measure/time_summary.hpp"
#include "race.hpp"

namespace tessera::bench {
namespace {

/// Reads "cuda:0+cuda:1" or "openmp+tbb": a backend, or one device of it, for each executor.
ExecutorList parse_list(const std::string& text) {
  ExecutorList list{text, {}, {}};
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('+', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    begin = end + 1;
    const std::size_t colon = word.find(':');
    const Backend backend = parse_backend(word.substr(0, colon));
    if (colon == std::string::npos) {
      list.executors.push_back(&executor(backend));
      continue;
    }
    const auto device = static_cast<int>(apps::parse_index("--executors", word.substr(colon + 1), 0));
    list.executors.push_back(&executor(backend, device));
    list.devices.push_back(device);
  }
  if (list.devices.size() != list.executors.size()) list.devices.clear();
  return list;
}

double gflops(const Shape& s, double seconds) {
  return 2e-9 * static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k) / seconds;
}

nlohmann::ordered_json row(const Shape& shape, DType type, const HostStanding& one, double first) {
  nlohmann::ordered_json row{
      {"dtype", to_string(type)},  {"m", shape.m}, {"n", shape.n}, {"k", shape.k}, {"peer", one.peer},
      {"executors", one.executors}};
  if (!one.problem.empty()) row["problem"] = one.problem;
  if (!one.check.empty()) row["check"] = one.check;
  if (one.seconds.empty()) return row;
  const measure::TimeSummary time = measure::summarize(one.seconds);
  row["seconds"] = time_json(one.seconds);
  row["gflops"] = gflops(shape, time.median);
  row["speed_of_first"] = first / time.median;
  return row;
}

std::string line(const Shape& shape, const HostStanding& one, double first) {
  const std::string head = fmt::format("  {:<10} {:<24}", one.peer, one.executors);
  if (one.seconds.empty()) return head + " " + one.problem;
  const measure::TimeSummary time = measure::summarize(one.seconds);
  return fmt::format("{} {:9.4f} s ({:.4f} … {:.4f}) {:10.1f} GFLOP/s {:6.2f} times the first; {} {}", head,
                     time.median, time.min, time.max, gflops(shape, time.median), first / time.median, one.check,
                     one.problem);
}

std::vector<Backend> backends_of(const std::vector<ExecutorList>& lists) {
  std::vector<Backend> backends;
  for (const ExecutorList& list : lists)
    for (const Executor* one : list.executors) backends.push_back(one->capabilities().backend);
  std::sort(backends.begin(), backends.end());
  backends.erase(std::unique(backends.begin(), backends.end()), backends.end());
  return backends;
}

} // namespace

CLI::App* ExecutorsCommand::add_to(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "executors", "one product of matrices in pinned host memory on one executor and on several, beside cuBLASXt");
  command
      ->add_option("--executors", lists,
                   "lists separated by commas; a list is cuda:0+cuda:1, or openmp+tbb, or cuda:0+openmp")
      ->capture_default_str();
  command->add_option("--shapes", shapes, "MxNxK, separated by commas")->capture_default_str();
  command->add_option("--dtype", types, "f32, f64, f16, bf16")->capture_default_str();
  command->add_option("--rounds", rounds, "samples of each peer, after one that is not counted")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command->add_option("--json", json, "file for the results");
  return command;
}

int ExecutorsCommand::run() const {
  std::vector<ExecutorList> all;
  for (const std::string& text : apps::split_list("--executors", lists)) all.push_back(parse_list(text));
  std::vector<nlohmann::ordered_json> results;
  bool wrong = false;
  for (const std::string& type : apps::split_list("--dtype", types))
    for (const std::string& word : apps::split_list("--shapes", shapes)) {
      const auto [m, n, k] = apps::parse_sizes("--shapes", word, 1);
      const Shape shape{m, n, k};
      const std::vector<HostStanding> standings = run_host_race(shape, parse_dtype(type), all, rounds);
      fmt::print("{} {}×{}×{}\n", type, m, n, k);
      const double first = measure::summarize(standings.front().seconds).median;
      for (const HostStanding& one : standings) {
        wrong |= !one.problem.empty();
        fmt::print("{}\n", line(shape, one, first));
        results.push_back(row(shape, parse_dtype(type), one, first));
      }
      apps::flush_stdout();
    }
  if (!json.empty()) {
    const nlohmann::ordered_json document{
        {"schema", "tessera.executors/1"}, {"machine", apps::machine_json(backends_of(all))}, {"results", results}};
    write_text_file(json, document.dump(1) + "\n");
  }
  return wrong ? 1 : 0;
}

} // namespace tessera::bench
