#include "table_layout.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "common/terminal.hpp"

namespace tessera::compare_app {

std::size_t TextColumn::width() const {
  std::size_t width = least;
  for (const std::string& text : cells) width = std::max(width, apps::display_width(text));
  return width;
}

std::vector<std::size_t> fitting(const std::vector<TextColumn>& columns, std::size_t width) {
  std::vector<std::size_t> order(columns.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (width == 0) return order;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t x, std::size_t y) { return columns[x].priority < columns[y].priority; });
  std::vector<std::size_t> chosen;
  std::size_t used = 0;
  for (const std::size_t c : order) {
    const std::size_t more = columns[c].width() + (chosen.empty() ? 0 : column_gap);
    if (columns[c].priority > 0 && used + more > width) continue;
    used += more;
    chosen.push_back(c);
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

std::size_t width_of(const std::vector<TextColumn>& columns) {
  std::size_t width = columns.empty() ? 0 : (columns.size() - 1) * column_gap;
  for (const TextColumn& column : columns) width += column.width();
  return width;
}

std::vector<std::string> lines_of(const std::vector<TextColumn>& columns) {
  std::vector<std::string> lines(columns.empty() ? 0 : columns.front().cells.size());
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const TextColumn& column = columns[c];
    const std::size_t width = column.width();
    for (std::size_t r = 0; r < lines.size(); ++r) {
      if (c > 0) lines[r] += std::string(column_gap, ' ');
      if (column.right)
        lines[r] += apps::pad_left(column.cells[r], width);
      else
        lines[r] += c + 1 == columns.size() ? column.cells[r] : apps::pad_right(column.cells[r], width);
    }
  }
  return lines;
}

std::string bar(double share, std::size_t width, bool blocks) {
  if (!(share > 0)) return "";
  static constexpr std::array parts{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const std::size_t steps = blocks ? parts.size() : 1;
  const auto length =
      static_cast<std::size_t>(std::max(1.0, std::round(std::min(share, 1.0) * static_cast<double>(width * steps))));
  std::string text;
  for (std::size_t i = 0; i < length / steps; ++i) text += blocks ? "█" : "#";
  return blocks ? text + parts[length % steps] : text;
}

} // namespace tessera::compare_app
