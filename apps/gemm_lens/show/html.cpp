#include <fstream>
#include <map>

#include <fmt/format.h>

#include "gemm_lens/findings.hpp"
#include "pictures.hpp"
#include "show.hpp"

namespace tessera::lens {
namespace {

const char* const style = R"(:root { color-scheme: light dark; --page: #fcfcfb; --text: #1b1b1a; --faint: #6b6b66;
  --line: #dcdcd6; --ground: #e6e6e0; --asked: #2f6fb0; --bar: #b3541e; --good: #2b7a3d; --bad: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --page: #161615; --text: #ececea; --faint: #9c9c95; --line: #3a3a37;
  --ground: #30302d; --asked: #6ea8e0; --bar: #e08a52; --good: #6cc080; --bad: #f0857d; } }
body { background: var(--page); color: var(--text); font: 16px/1.5 system-ui, sans-serif; margin: 0 auto;
  max-width: 60rem; padding: 1rem; }
h1, h2, h3 { line-height: 1.2; } h3 { margin-bottom: .2rem; font-size: 1rem; }
code, td.code { font-family: ui-monospace, monospace; font-size: .85rem; white-space: pre; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-size: .9rem; }
th, td { padding: .2rem .6rem; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
th:nth-child(-n+3), td:nth-child(-n+3), .code { text-align: left; }
.faint { color: var(--faint); } .good { color: var(--good); } .bad { color: var(--bad); }
li.bad { margin-bottom: .5rem; } figure { margin: .5rem 0 1.2rem; } figcaption { color: var(--faint); font-size: .85rem; }
.maps { display: flex; flex-wrap: wrap; gap: 1.5rem; } svg { max-width: 100%; height: auto; }
.ground { fill: var(--ground); } .asked { fill: var(--asked); } .bar { fill: var(--bar); } .mark { fill: var(--faint); }
.ink { fill: var(--faint); font: 10px system-ui, sans-serif; })";

/// The texts of sources' lines, which are read once.
class Sources {
 public:
  std::string line(const Place& place) {
    auto& lines = files_[place.file];
    if (lines.empty()) {
      std::ifstream file(place.file);
      for (std::string line; std::getline(file, line);) lines.push_back(line);
      lines.emplace_back();
    }
    const auto number = static_cast<std::size_t>(place.line);
    if (number == 0 || number > lines.size()) return {};
    const std::string& text = lines[number - 1];
    return text.substr(std::min(text.find_first_not_of(" \t"), text.size()));
  }

 private:
  std::map<std::string, std::vector<std::string>> files_;
};

std::string lines_table(const LaunchReport& launch, const std::string& file, Sources& sources) {
  std::string out =
      "<div class=\"wide\"><table><tr><th>line</th><th>access</th><th>of</th><th>requests</th><th>lanes</th>"
      "<th>sectors</th><th>wavefronts</th><th>bytes asked</th><th>bytes moved</th><th class=\"code\">code</th>"
      "</tr>\n";
  for (const LineAccess& line : launch.lines)
    out += fmt::format(
        "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{:.1f}</td><td>{}</td><td>{}</td><td>{}</td>"
        "<td>{}</td><td class=\"code\">{}</td></tr>\n",
        escaped(name_of(line.place, file)), line.access, escaped(line.array), line.requests,
        static_cast<double>(line.lanes) / static_cast<double>(line.requests),
        line.is_shared() ? "" : fmt::format("{:.2f}", line.sectors_per_request()),
        line.is_shared() ? fmt::format("{:.2f}", line.wavefronts_per_request()) : "", line.bytes_asked,
        line.bytes_moved, escaped(sources.line(line.place)));
  return out +
         "</table></div>\n<p class=\"faint\">lanes, sectors and wavefronts: of a request, on average. 32 lanes of 4 "
         "bytes need 4 sectors of global memory, or 1 wavefront of shared memory.</p>\n";
}

std::string pictures(const LaunchReport& launch, const std::string& file, Sources& sources) {
  std::string out;
  for (const LineAccess& line : launch.lines) {
    out += fmt::format("<h3>{}: {} of {}</h3>\n<code>{}</code>\n", escaped(name_of(line.place, file)), line.access,
                       escaped(line.array), escaped(sources.line(line.place)));
    if (line.is_shared())
      out += fmt::format(
          "<figure>{}<figcaption>The request that took the most wavefronts ({}): the words of 4 bytes that "
          "each of the 32 banks has for it.</figcaption></figure>\n<figure>{}<figcaption>The words that "
          "each bank has delivered to this line in all.</figcaption></figure>\n",
          picture_of_banks(line.sample), line.sample.cost, histogram_of_banks(line));
    else
      out += fmt::format(
          "<figure>{}<figcaption>The request that touched the most sectors ({}): each field is a sector of "
          "32 bytes, with the byte of {} at which it begins; the bytes that lanes ask for are "
          "coloured.</figcaption></figure>\n",
          picture_of_sectors(line.sample), line.sample.cost, escaped(line.array));
  }
  return out;
}

std::string findings_list(const Report& report) {
  if (report.findings.empty()) return {};
  std::string out = "<h2>Findings</h2>\n<ul>\n";
  for (const FindingReport& finding : report.findings)
    out += fmt::format("<li class=\"bad\">{}, {}: {}{}</li>\n", escaped(finding.kind),
                       escaped(name_of(finding.place, report.source.file.string())), escaped(finding.message),
                       finding.times > 1 ? fmt::format(" ({} times)", finding.times) : "");
  return out + "</ul>\n";
}

} // namespace

std::string html(const Report& report) {
  Sources sources;
  const std::string file = report.source.file.string();
  const std::string name = report.source.rung.empty() ? report.source.file.filename().string() : report.source.rung;
  const GemmShape& shape = report.question.shape;
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\">\n<title>{0} through the lens</title>\n"
      "<style>{1}</style></head><body>\n<h1>{0} through the lens</h1>\n<p>{2}×{3}×{4}, {5}{6}{7}. "
      "Counted on a processor; nothing ran on a GPU.</p>\n",
      escaped(name), style, shape.m, shape.n, shape.k, to_string(report.question.type),
      report.question.op_a == Op::Transpose ? ", A transposed" : "",
      report.question.op_b == Op::Transpose ? ", B transposed" : "");
  if (!report.product.empty())
    out += fmt::format("<p>Product: <strong class=\"{}\">{}</strong></p>\n", report.product == "right" ? "good" : "bad",
                       escaped(report.product));
  if (!report.ended.empty()) out += fmt::format("<p class=\"bad\">Ended early: {}</p>\n", escaped(report.ended));
  out += findings_list(report);
  for (const LaunchReport& launch : report.launches) {
    out += fmt::format(
        "<h2>{}</h2>\n<p>Grid {}×{}×{}, block {}×{}×{}, {} bytes of shared memory, {} launches; {} barriers "
        "passed by blocks, {} divergent branches of warps.</p>\n",
        escaped(launch.name), launch.grid[0], launch.grid[1], launch.grid[2], launch.block[0], launch.block[1],
        launch.block[2], launch.shared_bytes, launch.times, launch.barriers, launch.divergent_branches);
    out += lines_table(launch, file, sources) + pictures(launch, file, sources);
  }
  out += "<h2>Requests of each sector</h2>\n<div class=\"maps\">\n";
  for (const Heat& heat : report.heat)
    out += fmt::format("<figure>{}<figcaption>{}, {}×{} as it is stored</figcaption></figure>\n", heat_map(heat),
                       escaped(heat.array), heat.rows, heat.columns);
  out += "</div>\n<h2>Not said</h2>\n<ul>\n";
  for (const std::string& sentence : not_said()) out += "<li>" + escaped(sentence) + "</li>\n";
  return out + "</ul>\n</body></html>\n";
}

} // namespace tessera::lens
