#include <cstdint>

#include "report.hpp"

#include <algorithm>
#include <cstdio>

#include <nlohmann/json.hpp>

#include "gemm_lens/runtime/counters.hpp"
#include "gemm_lens/runtime/finding.hpp"
#include "gemm_lens/runtime/memory.hpp"

namespace tessera::lens {
namespace {

using Json = nlohmann::ordered_json;

const char* word(EventKind kind) {
  switch (kind) {
    case EventKind::Load:
      return "load";
    case EventKind::Store:
      return "store";
    case EventKind::Copy:
      return "copy";
    default:
      return "atomic";
  }
}

Json list(const uint3& index) { return {index.x, index.y, index.z}; }
Json list(const dim3& size) { return {size.x, size.y, size.z}; }

Json site_json(const Site& site) {
  Json lanes = Json::array();
  for (unsigned lane = 0; lane < 32; ++lane)
    lanes.push_back((site.dearest.lanes >> lane & 1) != 0
                        ? Json(static_cast<std::int64_t>(site.dearest.address[lane] - site.dearest_base))
                        : Json());
  return {{"pc", site.pc},
          {"kind", word(site.kind)},
          {"shared", site.shared},
          {"array", site.array},
          {"requests", site.requests},
          {"sectors", site.sectors},
          {"wavefronts", site.wavefronts},
          {"lanes", site.lanes},
          {"bytes_asked", site.bytes_asked},
          {"banks", site.words},
          {"sample", {{"size", site.dearest.size}, {"cost", site.dearest_cost}, {"addresses", lanes}}}};
}

Json launch_json(const Launch& launch) {
  Json sites = Json::array(), branches = Json::array();
  for (const Site& site : launch.sites) sites.push_back(site_json(site));
  for (const auto& [pc, times] : launch.divergent_at) branches.push_back({{"pc", pc}, {"times", times}});
  return {{"name", launch.name},
          {"line", launch.line},
          {"function_pc", launch.function_pc},
          {"grid", list(launch.grid)},
          {"block", list(launch.block)},
          {"shared_bytes", launch.shared_bytes},
          {"times", launch.times},
          {"barriers", launch.barriers},
          {"divergent_branches", launch.divergent_branches},
          {"branches", branches},
          {"sites", sites}};
}

Json finding_json(const Finding& finding) {
  return {{"kind", finding.kind},
          {"pc", finding.pc},
          {"other_pc", finding.other_pc},
          {"access", word(finding.access)},
          {"other_stores", finding.other_stores},
          {"times", finding.times},
          {"array", finding.array},
          {"shared", finding.shared},
          {"offset", finding.offset},
          {"array_bytes", finding.array_bytes},
          {"size", finding.size},
          {"thread", list(finding.thread)},
          {"block", list(finding.block)},
          {"other_thread", list(finding.other_thread)},
          {"other_block", finding.other_block},
          {"detail", finding.detail}};
}

/// The requests that touched the sectors of a matrix, summed up in a grid of at most 64×64 fields.
Json heat_json(const Allocation& matrix) {
  constexpr std::size_t most = 64;
  const std::size_t pitch = matrix.ld * matrix.element;
  const std::size_t across = std::max<std::size_t>(1, (matrix.columns * matrix.element + 31) / 32);
  const std::size_t rows = std::min(matrix.rows, most), columns = std::min(across, most);
  std::vector<std::vector<double>> sum(rows, std::vector<double>(columns)), cells = sum;
  for (std::size_t row = 0; row < matrix.rows; ++row)
    for (std::size_t sector = 0; sector < across; ++sector) {
      const std::size_t at = (row * pitch + sector * 32) / 32;
      if (at >= matrix.touched.size()) continue;
      sum[row * rows / matrix.rows][sector * columns / across] += matrix.touched[at];
      ++cells[row * rows / matrix.rows][sector * columns / across];
    }
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t column = 0; column < columns; ++column)
      if (cells[row][column] > 0) sum[row][column] /= cells[row][column];
  return {{"array", matrix.name}, {"rows", matrix.rows}, {"columns", matrix.columns}, {"requests_of_a_sector", sum}};
}

} // namespace

void write_report(const std::string& path, const Outcome& outcome) {
  Json all_launches = Json::array(), all_findings = Json::array(), heat = Json::array(), arrays = Json::array();
  for (const Launch& launch : launches()) all_launches.push_back(launch_json(launch));
  for (const Finding& finding : findings().all()) all_findings.push_back(finding_json(finding));
  for (const auto& allocation : device_memory().all()) {
    if (allocation->element == 0) continue;
    heat.push_back(heat_json(*allocation));
    arrays.push_back({{"name", allocation->name},
                      {"element", allocation->element},
                      {"columns", allocation->columns},
                      {"ld", allocation->ld}});
  }
  const Json document{{"ended", outcome.ended},   {"pc", outcome.pc},           {"detail", outcome.detail},
                      {"wrong", outcome.wrong},   {"checked", outcome.checked}, {"launches", all_launches},
                      {"findings", all_findings}, {"arrays", arrays},           {"heat", heat}};
  if (std::FILE* const file = std::fopen(path.c_str(), "w")) {
    const std::string text = document.dump(-1, ' ', false, Json::error_handler_t::replace);
    std::fwrite(text.data(), 1, text.size(), file);
    std::fclose(file);
  }
}

} // namespace tessera::lens
