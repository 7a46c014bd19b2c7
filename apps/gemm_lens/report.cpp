#include "report.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "findings.hpp"
#include "program.hpp"

namespace tessera::lens {
namespace {

using Json = nlohmann::json;
using Places = std::map<std::uint32_t, Place>;

std::set<std::uint32_t> pcs_of(const Json& run) {
  std::set<std::uint32_t> pcs;
  const auto add = [&](const Json& pc) {
    if (pc.get<std::uint32_t>() != 0) pcs.insert(pc.get<std::uint32_t>());
  };
  add(run["pc"]);
  for (const Json& launch : run["launches"]) {
    add(launch["function_pc"]);
    for (const Json& site : launch["sites"]) add(site["pc"]);
    for (const Json& branch : launch["branches"]) add(branch["pc"]);
  }
  for (const Json& finding : run["findings"]) {
    add(finding["pc"]);
    add(finding["other_pc"]);
  }
  return pcs;
}

Place place_at(const Places& places, const Json& pc) {
  const auto found = places.find(pc.get<std::uint32_t>());
  return found == places.end() ? Place{} : found->second;
}

/// Adds what an instruction did to the line that it belongs to.
void add_site(std::vector<LineAccess>& lines, const Json& site, const Place& place) {
  const bool shared = site["shared"];
  const std::string access = (shared ? "shared " : "global ") + site["kind"].get<std::string>();
  const std::string array = site["array"];
  LineAccess* line = nullptr;
  for (LineAccess& one : lines)
    if (one.access == access && one.array == array && one.place.line == place.line && one.place.file == place.file &&
        one.place.kernel_line == place.kernel_line)
      line = &one;
  if (line == nullptr) {
    line = &lines.emplace_back();
    line->place = place;
    line->access = access;
    line->array = array;
  }
  line->requests += site["requests"].get<std::uint64_t>();
  line->sectors += site["sectors"].get<std::uint64_t>();
  line->wavefronts += site["wavefronts"].get<std::uint64_t>();
  line->lanes += site["lanes"].get<std::uint64_t>();
  line->bytes_asked += site["bytes_asked"].get<std::uint64_t>();
  line->bytes_moved = shared ? line->wavefronts * 128 : line->sectors * 32;
  for (std::size_t bank = 0; bank < 32; ++bank) line->banks[bank] += site["banks"][bank].get<std::uint64_t>();
  const Json& sample = site["sample"];
  if (sample["cost"].get<int>() <= line->sample.cost) return;
  line->sample.cost = sample["cost"];
  line->sample.size = sample["size"];
  for (std::size_t lane = 0; lane < 32; ++lane) {
    const Json& offset = sample["addresses"][lane];
    line->sample.offset[lane] = offset.is_null() ? std::nullopt : std::optional(offset.get<std::int64_t>());
  }
}

LaunchReport launch_of(const Json& json, const Places& places) {
  LaunchReport launch;
  launch.name = json["name"];
  launch.line = json["line"];
  if (launch.name.empty()) launch.name = place_at(places, json["function_pc"]).function;
  launch.grid = json["grid"];
  launch.block = json["block"];
  launch.shared_bytes = json["shared_bytes"];
  launch.times = json["times"];
  launch.barriers = json["barriers"];
  launch.divergent_branches = json["divergent_branches"];
  for (const Json& site : json["sites"]) add_site(launch.lines, site, place_at(places, site["pc"]));
  std::stable_sort(launch.lines.begin(), launch.lines.end(), [](const LineAccess& x, const LineAccess& y) {
    return std::tie(x.place.kernel_line, x.place.file, x.place.line) <
           std::tie(y.place.kernel_line, y.place.file, y.place.line);
  });
  for (const Json& json_branch : json["branches"]) {
    const Place place = place_at(places, json_branch["pc"]);
    Branch* branch = nullptr;
    for (Branch& one : launch.branches)
      if (one.place.line == place.line && one.place.file == place.file) branch = &one;
    if (branch == nullptr) branch = &launch.branches.emplace_back(Branch{place, 0});
    branch->times += json_branch["times"].get<std::uint64_t>();
  }
  return launch;
}

bool is_same(const Place& x, const Place& y) { return x.line == y.line && x.file == y.file; }

/// Leaves out what follows from another finding: a race's other direction, and a read of unwritten memory that
/// races with the write.
void drop_echoes(std::vector<FindingReport>& findings) {
  const auto is_echo = [&](const FindingReport& one) {
    for (const FindingReport& other : findings) {
      if (&other == &one || other.kind != "race") continue;
      if (one.kind == "uninitialised" && (is_same(one.place, other.place) || is_same(one.place, other.other)))
        return true;
      if (one.kind == "race" && &other < &one && is_same(one.place, other.other) && is_same(one.other, other.place))
        return true;
    }
    return false;
  };
  std::vector<FindingReport> kept;
  for (const FindingReport& one : findings)
    if (!is_echo(one)) kept.push_back(one);
  findings = std::move(kept);
}

} // namespace

const std::vector<std::string>& not_said() {
  static const std::vector<std::string> sentences{
      "times, stalls, occupancy, registers and spills: nothing runs on a GPU",
      "what the caches L1 and L2 serve: sectors are what requests ask L1 for",
      "which neighbouring loads nvcc joins to vectors: accesses are counted as the source makes them",
      "branches that nvcc turns into predicates: here they count as divergent"};
  return sentences;
}

Report look(const Question& question) {
  const Folders folders = find_folders();
  const Source source = find_source(question, folders);
  return look(Program(source, folders), source, question);
}

Report look(const Program& program, const Source& source, const Question& question) {
  Report report{question, source, {}, {}, {}, "", "", ""};
  const Run run = program.run(question);
  report.output = run.output;
  const Json json = Json::parse(run.report, nullptr, false);
  if (!json.is_object()) {
    report.ended = run.ended.empty() ? "its results are missing" : run.ended;
    return report;
  }
  const Places places = find_places(program.path(), pcs_of(json), report.source.file, find_folders());
  for (const Json& launch : json["launches"]) report.launches.push_back(launch_of(launch, places));
  for (const Json& finding : json["findings"])
    report.findings.push_back(finding_of(finding, json, place_at(places, finding["pc"]),
                                         place_at(places, finding["other_pc"]), report.source.file.string()));
  for (const Json& heat : json["heat"])
    report.heat.push_back({heat["array"], heat["rows"], heat["columns"], heat["requests_of_a_sector"]});
  drop_echoes(report.findings);
  report.ended = end_of(json, place_at(places, json["pc"]), question);
  if (json["checked"]) report.product = json["wrong"].get<std::string>().empty() ? "right" : json["wrong"];
  if (report.launches.empty() && report.ended.empty()) report.ended = "it launched no kernel";
  return report;
}

} // namespace tessera::lens
