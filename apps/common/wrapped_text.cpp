#include "wrapped_text.hpp"

#include <algorithm>

#include "terminal.hpp"

namespace tessera::apps {
namespace {

/// Returns the column at which a line goes on in the next one.
std::size_t hanging_indent(const std::string& line, std::size_t width) {
  const std::size_t start = std::min(line.find_first_not_of(' '), line.size());
  const std::size_t gap = line.rfind("  ");
  const bool has_columns = gap != std::string::npos && gap > start;
  const std::size_t column = has_columns ? display_width(std::string_view(line).substr(0, gap + 2)) : start;
  if (has_columns && column <= width / 2) return column;
  return start > 0 && start <= 4 ? start + 4 : std::min(start, width / 2);
}

} // namespace

std::string wrapped_lines(const std::string& text, std::size_t width) {
  if (width == 0) return text;
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    result += wrapped(line, width, hanging_indent(line, width));
    if (end < text.size()) result += '\n';
    at = end + 1;
  }
  return result;
}

std::string wrapped_record(const std::string& fields, const std::string& text, std::size_t width) {
  constexpr std::size_t least_room = 40, indent = 6;
  const std::size_t column = display_width(fields) + 1;
  if (width == 0) return fields + ' ' + text;
  if (column + least_room <= width) return wrapped(fields + ' ' + text, width, column);
  const std::size_t end = fields.find_last_not_of(' ') + 1;
  return wrapped(fields.substr(0, end), width, indent) + '\n' + wrapped(std::string(indent, ' ') + text, width, indent);
}

} // namespace tessera::apps
