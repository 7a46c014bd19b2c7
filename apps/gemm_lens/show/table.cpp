#include <algorithm>
#include <sstream>

#include <fmt/format.h>

#include "gemm_lens/findings.hpp"
#include "show.hpp"

namespace tessera::lens {
namespace {

std::string size_text(const std::array<unsigned, 3>& size) {
  if (size[2] != 1) return fmt::format("{}x{}x{}", size[0], size[1], size[2]);
  return size[1] != 1 ? fmt::format("{}x{}", size[0], size[1]) : fmt::format("{}", size[0]);
}

std::string bytes_text(std::uint64_t bytes) {
  if (bytes < 10000) return fmt::format("{} B", bytes);
  if (bytes < 10000000) return fmt::format("{} kB", (bytes + 500) / 1000);
  return fmt::format("{} MB", (bytes + 500000) / 1000000);
}

std::string place_text(const Place& place, const std::string& kernel_file) {
  if (place.line == 0) return "?";
  if (place.file == kernel_file) return fmt::format("{}", place.line);
  const std::string there = fmt::format("{}:{}", std::filesystem::path(place.file).filename().string(), place.line);
  return place.kernel_line != 0 ? fmt::format("{} ({})", place.kernel_line, there) : there;
}

using Row = std::array<std::string, 9>;
const Row titles{"line", "access", "of", "requests", "lanes", "sectors", "wavefronts", "asked", "moved"};

Row row_of(const LineAccess& line, const std::string& kernel_file) {
  return {place_text(line.place, kernel_file),
          line.access,
          line.array,
          fmt::format("{}", line.requests),
          fmt::format("{:.1f}", static_cast<double>(line.lanes) / static_cast<double>(line.requests)),
          line.is_shared() ? "" : fmt::format("{:.2f}", line.sectors_per_request()),
          line.is_shared() ? fmt::format("{:.2f}", line.wavefronts_per_request()) : "",
          bytes_text(line.bytes_asked),
          bytes_text(line.bytes_moved)};
}

void print_lines(std::string& out, const LaunchReport& launch, const std::string& kernel_file) {
  std::vector<Row> rows{titles};
  for (const LineAccess& line : launch.lines) rows.push_back(row_of(line, kernel_file));
  std::array<std::size_t, 9> width{};
  for (const Row& row : rows)
    for (std::size_t column = 0; column < row.size(); ++column)
      width[column] = std::max(width[column], row[column].size());
  for (const Row& row : rows) {
    out += " ";
    for (std::size_t column = 0; column < row.size(); ++column)
      out += column == 1 || column == 2 ? fmt::format(" {:<{}}", row[column], width[column])
                                        : fmt::format(" {:>{}}", row[column], width[column]);
    out += "\n";
  }
}

} // namespace

std::string table(const Report& report) {
  const Question& asked = report.question;
  const std::string file = report.source.file.string();
  std::string out = fmt::format(
      "{}, {}x{}x{}, {}{}{}\n",
      report.source.rung.empty() ? report.source.file.filename().string() : report.source.rung, asked.shape.m,
      asked.shape.n, asked.shape.k, to_string(asked.type), asked.op_a == Op::Transpose ? ", A transposed" : "",
      asked.op_b == Op::Transpose ? ", B transposed" : "");
  for (const LaunchReport& launch : report.launches) {
    out += fmt::format("\n{}: grid {}, block {}, {} bytes of shared memory{}\n", launch.name, size_text(launch.grid),
                       size_text(launch.block), launch.shared_bytes,
                       launch.times > 1 ? fmt::format(", {} launches", launch.times) : "");
    out += fmt::format("  {} barriers passed by blocks, {} divergent branches of warps", launch.barriers,
                       launch.divergent_branches);
    for (const Branch& branch : launch.branches)
      out += fmt::format("{}{} at {}", &branch == &launch.branches.front() ? ": " : ", ", branch.times,
                         name_of(branch.place, file));
    out += "\n";
    print_lines(out, launch, file);
  }
  out += "\nsectors and wavefronts: of a request, on average; 32 lanes of 4 bytes need 4 sectors and 1 wavefront\n";
  if (!report.output.empty()) {
    std::istringstream lines(report.output);
    std::string line;
    out += "\nthe kernel's code printed:\n";
    for (int count = 0; count < 10 && std::getline(lines, line); ++count) out += "  " + line + "\n";
    if (std::getline(lines, line)) out += "  …\n";
  }
  for (const FindingReport& finding : report.findings)
    out += fmt::format("\n{}, {}: {}{}\n", finding.kind, name_of(finding.place, file), finding.message,
                       finding.times > 1 ? fmt::format(" ({} times)", finding.times) : "");
  if (!report.ended.empty()) out += "\nended early: " + report.ended + "\n";
  if (!report.product.empty())
    out += fmt::format("\nproduct: {}{}\n", report.product == "right" ? "" : "wrong: ", report.product);
  out += "\nnot said:\n";
  for (const std::string& sentence : not_said()) out += "- " + sentence + "\n";
  return out;
}

} // namespace tessera::lens
