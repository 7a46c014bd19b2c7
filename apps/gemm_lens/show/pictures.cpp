#include "pictures.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

namespace tessera::lens {
namespace {

std::string svg(double width, double height, const std::string& title, const std::string& inside) {
  return fmt::format(
      "<svg viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\"><title>{2}</title>{3}</svg>", width,
      height, escaped(title), inside);
}

std::string box(double x, double y, double width, double height, const char* kind, const std::string& title = {}) {
  return fmt::format("<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\">{}</rect>", kind,
                     x, y, width, height, title.empty() ? "" : "<title>" + escaped(title) + "</title>");
}

std::string words(double x, double y, const std::string& text, const char* anchor = "start") {
  return fmt::format("<text class=\"ink\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>", x, y, anchor,
                     escaped(text));
}

/// Names lanes: "lanes 0 to 3, 8".
std::string lanes_text(const std::set<int>& lanes) {
  std::string text = lanes.size() == 1 ? "lane " : "lanes ";
  for (auto at = lanes.begin(); at != lanes.end();) {
    const int first = *at;
    int last = first;
    while (++at != lanes.end() && *at == last + 1) ++last;
    text += fmt::format("{}{}", text.back() == ' ' ? "" : ", ", first);
    if (last > first) text += fmt::format("{}{}", last == first + 1 ? ", " : " to ", last);
  }
  return text;
}

} // namespace

std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '&')
      safe += "&amp;";
    else if (c == '<')
      safe += "&lt;";
    else if (c == '>')
      safe += "&gt;";
    else if (c == '"')
      safe += "&quot;";
    else
      safe += c;
  }
  return safe;
}

std::string picture_of_sectors(const Sample& sample) {
  constexpr std::int64_t sector_bytes = 32;
  constexpr int per_row = 8;
  constexpr double byte = 2.5, gap = 8, height = 18, row_height = 36;
  std::map<std::int64_t, std::set<int>> lanes_of;
  for (int lane = 0; lane < 32; ++lane)
    if (const auto offset = sample.offset[static_cast<std::size_t>(lane)])
      for (std::int64_t at = *offset - (*offset % sector_bytes + sector_bytes) % sector_bytes;
           at < *offset + sample.size; at += sector_bytes)
        lanes_of[at].insert(lane);
  std::string inside;
  int number = 0;
  for (const auto& [begin, lanes] : lanes_of) {
    const double x = number % per_row * (sector_bytes * byte + gap),
                 y = static_cast<double>(number / per_row) * row_height;
    const std::string title = fmt::format("bytes {} to {}: {}", begin, begin + sector_bytes - 1, lanes_text(lanes));
    inside += box(x, y + 14, sector_bytes * byte, height, "ground", title);
    for (const int lane : lanes) {
      const std::int64_t offset = *sample.offset[static_cast<std::size_t>(lane)];
      const std::int64_t from = std::max(offset, begin), to = std::min(offset + sample.size, begin + sector_bytes);
      inside += box(x + static_cast<double>(from - begin) * byte, y + 14, static_cast<double>(to - from) * byte - 0.5,
                    height, "asked", fmt::format("lane {}: bytes {} to {}", lane, offset, offset + sample.size - 1));
    }
    inside += words(x, y + 10, fmt::format("{}", begin));
    ++number;
  }
  const int rows = (number + per_row - 1) / per_row;
  return svg(per_row * (sector_bytes * byte + gap), rows * row_height,
             fmt::format("{} sectors of 32 bytes", lanes_of.size()), inside);
}

std::string picture_of_banks(const Sample& sample) {
  constexpr double column = 20, cell = 9;
  std::map<std::int64_t, std::set<int>> lanes_of;
  for (int lane = 0; lane < 32; ++lane)
    if (const auto offset = sample.offset[static_cast<std::size_t>(lane)])
      for (std::int64_t at = *offset / 4; at * 4 < *offset + sample.size; ++at) lanes_of[at].insert(lane);
  std::array<int, 32> used{};
  for (const auto& [word, lanes] : lanes_of) ++used[static_cast<std::size_t>((word % 32 + 32) % 32)];
  const int most = *std::max_element(used.begin(), used.end());
  std::string inside;
  used = {};
  for (const auto& [word, lanes] : lanes_of) {
    const auto bank = static_cast<std::size_t>((word % 32 + 32) % 32);
    const double y = (most - ++used[bank]) * cell;
    inside += box(static_cast<double>(bank) * column + 1, y, column - 3, cell - 1, "asked",
                  fmt::format("bank {}, byte {}: {}", bank, word * 4, lanes_text(lanes)));
  }
  for (int bank = 0; bank < 32; bank += 4)
    inside += words(bank * column + 2, most * cell + 12, fmt::format("{}", bank));
  inside += box(0, most * cell, 32 * column, 0.8, "mark");
  return svg(32 * column, most * cell + 16, fmt::format("words of each bank, at most {}", most), inside);
}

std::string histogram_of_banks(const LineAccess& line) {
  constexpr double column = 20, height = 48;
  const std::uint64_t most = std::max<std::uint64_t>(1, *std::max_element(line.banks.begin(), line.banks.end()));
  std::string inside;
  for (std::size_t bank = 0; bank < 32; ++bank) {
    const double tall = height * static_cast<double>(line.banks[bank]) / static_cast<double>(most);
    inside += box(static_cast<double>(bank) * column + 1, height - tall, column - 3, tall, "bar",
                  fmt::format("bank {}: {} words", bank, line.banks[bank]));
  }
  for (int bank = 0; bank < 32; bank += 4) inside += words(bank * column + 2, height + 12, fmt::format("{}", bank));
  inside += box(0, height, 32 * column, 0.8, "mark");
  return svg(32 * column, height + 16, "words that each bank has delivered", inside);
}

std::string heat_map(const Heat& heat) {
  constexpr double side = 288;
  double most = 0;
  for (const auto& row : heat.requests_of_a_sector)
    for (const double value : row) most = std::max(most, value);
  const auto rows = static_cast<double>(heat.requests_of_a_sector.size());
  std::string inside;
  for (std::size_t i = 0; i < heat.requests_of_a_sector.size(); ++i) {
    const auto& row = heat.requests_of_a_sector[i];
    const double width = side / static_cast<double>(row.size()), height = std::min(side / rows, 24.0);
    for (std::size_t j = 0; j < row.size(); ++j)
      inside += fmt::format(
          "<rect class=\"bar\" x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" "
          "fill-opacity=\"{:.2f}\"><title>{:.0f} requests</title></rect>",
          static_cast<double>(j) * width, static_cast<double>(i) * height, width, height,
          most > 0 ? 0.08 + 0.92 * row[j] / most : 0.0, row[j]);
  }
  const double tall = std::min(side, 24 * rows);
  return svg(side, tall, fmt::format("{}: requests that touched each sector, at most {:.0f}", heat.array, most),
             inside);
}

} // namespace tessera::lens
