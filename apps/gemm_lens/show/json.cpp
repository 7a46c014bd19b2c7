#include <nlohmann/json.hpp>

#include "show.hpp"

namespace tessera::lens {
namespace {

using Json = nlohmann::ordered_json;

void put_place(Json& json, const Place& place, const char* line, const char* file) {
  json[line] = place.line;
  json[file] = place.file;
}

Json line_json(const LineAccess& line) {
  Json json;
  put_place(json, line.place, "line", "file");
  json["kernel_line"] = line.place.kernel_line;
  json["function"] = line.place.function;
  json["access"] = line.access;
  json["array"] = line.array;
  json["requests"] = line.requests;
  json["sectors"] = line.sectors;
  json["wavefronts"] = line.wavefronts;
  json["lanes"] = line.lanes;
  json["bytes_asked"] = line.bytes_asked;
  json["bytes_moved"] = line.bytes_moved;
  if (line.is_shared()) json["banks"] = line.banks;
  Json addresses = Json::array();
  for (const auto& offset : line.sample.offset) addresses.push_back(offset ? Json(*offset) : Json());
  json["sample"] = {{"size", line.sample.size}, {"cost", line.sample.cost}, {"addresses", addresses}};
  return json;
}

Json launch_json(const LaunchReport& launch) {
  Json lines = Json::array(), branches = Json::array();
  for (const LineAccess& line : launch.lines) lines.push_back(line_json(line));
  for (const Branch& branch : launch.branches) {
    Json one;
    put_place(one, branch.place, "line", "file");
    one["times"] = branch.times;
    branches.push_back(one);
  }
  return {{"name", launch.name},
          {"line", launch.line},
          {"grid", launch.grid},
          {"block", launch.block},
          {"shared_bytes", launch.shared_bytes},
          {"times", launch.times},
          {"barriers", launch.barriers},
          {"divergent_branches", launch.divergent_branches},
          {"branches", branches},
          {"lines", lines}};
}

Json finding_json(const FindingReport& finding) {
  Json json{{"kind", finding.kind}};
  put_place(json, finding.place, "line", "file");
  put_place(json, finding.other, "other_line", "other_file");
  json["times"] = finding.times;
  json["message"] = finding.message;
  return json;
}

} // namespace

std::string json(const Report& report) {
  const GemmShape& shape = report.question.shape;
  Json launches = Json::array(), findings = Json::array(), heat = Json::array();
  for (const LaunchReport& launch : report.launches) launches.push_back(launch_json(launch));
  for (const FindingReport& finding : report.findings) findings.push_back(finding_json(finding));
  for (const Heat& one : report.heat)
    heat.push_back({{"array", one.array},
                    {"rows", one.rows},
                    {"columns", one.columns},
                    {"requests_of_a_sector", one.requests_of_a_sector}});
  const Json document{{"kernel", report.source.rung.empty() ? report.question.kernel : report.source.rung},
                      {"file", report.source.file.string()},
                      {"shape", {{"m", shape.m}, {"n", shape.n}, {"k", shape.k}}},
                      {"dtype", to_string(report.question.type)},
                      {"trans_a", report.question.op_a == Op::Transpose},
                      {"trans_b", report.question.op_b == Op::Transpose},
                      {"product", report.product},
                      {"ended", report.ended},
                      {"launches", launches},
                      {"findings", findings},
                      {"heat", heat},
                      {"not_said", not_said()}};
  return document.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace tessera::lens
