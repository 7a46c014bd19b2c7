#include "command.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include <fmt/format.h>

#include <tessera/backend.hpp>
#include <tessera/detail/stopwatch.hpp>
#include <tessera/detail/type_words.hpp>
#include <tessera/files.hpp>

#include "common/machine.hpp"
#include "common/terminal.hpp"
#include "common/words.hpp"
#include "core/measure/time_summary.hpp"
#include "gemm_bench/time_json.hpp"
#include "operands.hpp"
#include "race.hpp"

namespace tessera::bench {
namespace {

/// Reads "cuda:0+cuda:1" or "openmp+tbb": a backend, or one device of it, for each executor. A device that is named
/// twice has two executors.
ExecutorList parse_list(const std::string& text) {
  ExecutorList list{text, {}, {}};
  bool shared = false;
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
    const auto copy = static_cast<int>(std::count(list.devices.begin(), list.devices.end(), device));
    shared |= copy > 0;
    list.executors.push_back(&executor(backend, device, copy));
    list.devices.push_back(device);
  }
  if (shared || list.devices.size() != list.executors.size()) list.devices.clear();
  return list;
}

double gflops(const GemmShape& s, double seconds) {
  return 2e-9 * static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k) / seconds;
}

nlohmann::ordered_json entry(const GemmShape& shape, DType type, const HostStanding& one, double first) {
  nlohmann::ordered_json entry{
      {"dtype", to_string(type)},  {"m", shape.m}, {"n", shape.n}, {"k", shape.k}, {"peer", one.peer},
      {"executors", one.executors}};
  if (!one.problem.empty()) entry["problem"] = one.problem;
  if (!one.check.empty()) entry["check"] = one.check;
  if (one.copy_bytes_per_second > 0) entry["copy_bytes_per_second"] = one.copy_bytes_per_second;
  if (one.seconds.empty()) return entry;
  const measure::TimeSummary time = measure::summarize(one.seconds);
  entry["seconds"] = time_json(one.seconds);
  entry["gflops"] = gflops(shape, time.median);
  if (first > 0) entry["speed_of_first"] = first / time.median;
  return entry;
}

std::string line(const GemmShape& shape, const HostStanding& one, double first) {
  const std::string head = fmt::format("  {:<10} {:<24}", one.peer, one.executors);
  if (one.seconds.empty()) return head + " " + one.problem;
  const measure::TimeSummary time = measure::summarize(one.seconds);
  const std::string copies = one.copy_bytes_per_second > 0
                                 ? fmt::format(", copies of strips at {:.1f} GB/s", one.copy_bytes_per_second / 1e9)
                                 : "";
  return fmt::format("{} {:9.4f} s ({:.4f} … {:.4f}) {:10.1f} GFLOP/s {:6.2f} times the first; {}{} {}", head,
                     time.median, time.min, time.max, gflops(shape, time.median), first / time.median, one.check,
                     copies, one.problem);
}

std::vector<Backend> backends_of(const std::vector<ExecutorList>& lists) {
  std::vector<Backend> backends;
  for (const ExecutorList& list : lists)
    for (const Executor* one : list.executors) backends.push_back(one->capabilities().backend);
  std::sort(backends.begin(), backends.end());
  backends.erase(std::unique(backends.begin(), backends.end()), backends.end());
  return backends;
}

/// Where the operands of a race are.
struct Place {
  const char* name;
  decltype(&run_host_race) race;
  bool pinned; ///< is the host's memory page-locked?
};

const Place& parse_place(const std::string& word) {
  static constexpr std::array places{Place{"host", run_host_race, true}, Place{"pageable", run_host_race, false},
                                     Place{"resident", run_resident_race, true}};
  return places[apps::choose("--operands", word, {places[0].name, places[1].name, places[2].name})];
}

/// Writes what there is, after each shape, so that a run that is ended early leaves its results.
void write_results(const std::string& file, const std::vector<ExecutorList>& lists,
                   const std::vector<nlohmann::ordered_json>& results) {
  if (file.empty()) return;
  const nlohmann::ordered_json document{
      {"schema", "tessera.executors/1"}, {"machine", apps::machine_json(backends_of(lists))}, {"results", results}};
  write_text_file(file, document.dump(1) + "\n");
}

} // namespace

CLI::App* ExecutorsCommand::add_to(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "executors",
      "one product on one executor and on several: of matrices in host memory, beside cuBLASXt, or of matrices that "
      "stay on the executors");
  command
      ->add_option("--executors", lists,
                   "lists separated by commas; a list is cuda:0+cuda:1, or openmp+tbb, or cuda:0+openmp")
      ->capture_default_str();
  command->add_option("--shapes", shapes, "MxNxK, separated by commas")->capture_default_str();
  command->add_option("--dtype", types, tessera::detail::type_words(element_types, &ElementType::name, "and"))
      ->capture_default_str();
  command->add_option("--rounds", repeats.rounds, "most samples of each peer, after one that is not counted")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--seconds", repeats.seconds,
                   "most seconds for the samples of a peer; of a product that takes longer the first one counts")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--operands", operands,
                   "host: in pinned memory, beside cuBLASXt; pageable: in ordinary memory; resident: in blocks of rows "
                   "on the executors, where C stays too; or several, separated by commas")
      ->capture_default_str();
  command->add_option("--json", json, "file for the results");
  return command;
}

int ExecutorsCommand::run() const {
  std::vector<GemmShape> wanted_shapes; // read before any executor is made, as the types are
  for (const std::string& sizes : apps::split_list("--shapes", shapes)) {
    const auto [m, n, k] = apps::parse_sizes("--shapes", sizes, 1);
    wanted_shapes.push_back({m, n, k});
  }
  std::vector<DType> wanted_types;
  for (const std::string& word : apps::split_list("--dtype", types)) wanted_types.push_back(parse_dtype(word));
  if (!json.empty()) check_writable(json);
  std::vector<ExecutorList> all;
  for (const std::string& text : apps::split_list("--executors", lists)) all.push_back(parse_list(text));
  std::vector<Place> places;
  for (const std::string& word : apps::split_list("--operands", operands)) places.push_back(parse_place(word));
  HostMemory pinned(*all.front().executors.front()), pageable(executor(Backend::Reference));
  RaceMemory of_pinned{pinned, {}}, of_pageable{pageable, {}};
  std::vector<nlohmann::ordered_json> results;
  bool wrong = false;
  for (const DType type : wanted_types)
    for (const GemmShape& shape : wanted_shapes)
      for (const Place& place : places) {
        const measure::HostStopwatch watch;
        const std::vector<HostStanding> standings =
            place.race(shape, type, all, repeats, place.pinned ? of_pinned : of_pageable);
        fmt::print("{} {}×{}×{}, operands {}, {:.1f} s in all\n", to_string(type), shape.m, shape.n, shape.k,
                   place.name, watch.seconds());
        const double first =
            standings.front().seconds.empty() ? 0 : measure::summarize(standings.front().seconds).median;
        for (const HostStanding& one : standings) {
          wrong |= !one.problem.empty();
          fmt::print("{}\n", line(shape, one, first));
          results.push_back(entry(shape, type, one, first));
        }
        apps::flush_stdout();
        write_results(json, all, results);
      }
  return wrong ? 1 : 0;
}

} // namespace tessera::bench
