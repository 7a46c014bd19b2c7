#include "terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include <tessera/detail/printable.hpp>
#include <tessera/status.hpp>

namespace tessera::apps {
namespace {

[[noreturn]] void fail_at_stdout(int error) {
  throw IoError(std::string("cannot write to stdout: ") + std::strerror(error));
}

/// Takes the first character from the text, which is not empty. Returns its bytes and sets the columns that it takes.
std::size_t next_character(std::string_view text, std::size_t& columns) {
  struct Range {
    std::uint32_t first, last;
    std::size_t columns;
  };
  // East Asian wide characters and emoji take two columns; combining and joining characters take none.
  static constexpr std::array ranges{Range{0x300, 0x36F, 0},     Range{0x1100, 0x115F, 2},  Range{0x200B, 0x200D, 0},
                                     Range{0x2060, 0x2064, 0},   Range{0x20D0, 0x20FF, 0},  Range{0x2E80, 0xA4CF, 2},
                                     Range{0xAC00, 0xD7A3, 2},   Range{0xF900, 0xFAFF, 2},  Range{0xFE00, 0xFE0F, 0},
                                     Range{0xFE20, 0xFE2F, 0},   Range{0xFE30, 0xFE6F, 2},  Range{0xFEFF, 0xFEFF, 0},
                                     Range{0xFF00, 0xFF60, 2},   Range{0xFFE0, 0xFFE6, 2},  Range{0x1F300, 0x1FAFF, 2},
                                     Range{0x20000, 0x3FFFD, 2}, Range{0xE0000, 0xE0FFF, 0}};
  std::uint32_t character = 0;
  const std::size_t bytes = detail::decode_utf8(text, character);
  const auto* range = std::find_if(ranges.begin(), ranges.end(), [&](const Range& candidate) {
    return character >= candidate.first && character <= candidate.last;
  });
  columns = bytes == 0 || range == ranges.end() ? 1 : range->columns;
  return std::max<std::size_t>(bytes, 1);
}

/// Returns how many bytes of the text fit into `width` columns.
std::size_t bytes_within(std::string_view text, std::size_t width) {
  std::size_t at = 0, used = 0;
  while (at < text.size()) {
    std::size_t columns = 0;
    const std::size_t bytes = next_character(text.substr(at), columns);
    if (used + columns > width) break;
    used += columns;
    at += bytes;
  }
  return at;
}

} // namespace

bool is_terminal(std::FILE* stream) { return isatty(fileno(stream)) == 1; }

bool shows_colour(std::FILE* stream) {
  const char* no_color = std::getenv("NO_COLOR");
  const bool refused = no_color != nullptr && *no_color != '\0';
  return !refused && is_terminal(stream);
}

std::size_t terminal_width(std::FILE* stream) {
  if (!is_terminal(stream)) return 0;
  winsize size{};
  if (ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const char* columns = std::getenv("COLUMNS");
  const std::string_view text = columns != nullptr ? columns : "";
  std::size_t width = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), width);
  return error == std::errc() && end == text.data() + text.size() && width > 0 ? width : 80;
}

bool locale_is_utf8() {
  for (const char* variable : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(variable);
    if (value == nullptr || *value == '\0') continue;
    std::string name = value;
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    return name.find("utf-8") != std::string::npos || name.find("utf8") != std::string::npos;
  }
  return false;
}

void print_to_stdout(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) fail_at_stdout(errno);
  flush_stdout();
}

void flush_stdout() {
  if (std::fflush(stdout) != 0) fail_at_stdout(errno);
  if (std::ferror(stdout) != 0) fail_at_stdout(EIO); // an earlier write, of which the reason is not known
}

std::string styled(const std::string& text, Style style, bool enabled) {
  if (!enabled) return text;
  const char* code = "";
  switch (style) {
    case Style::Plain:
      return text;
    case Style::Bold:
      code = "1";
      break;
    case Style::Dim:
      code = "2";
      break;
    case Style::Green:
      code = "32";
      break;
    case Style::Red:
      code = "31";
      break;
    case Style::Yellow:
      code = "33";
      break;
  }
  return std::string("\x1b[") + code + "m" + text + "\x1b[0m";
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    std::size_t columns = 0;
    text.remove_prefix(next_character(text, columns));
    width += columns;
  }
  return width;
}

std::string pad_left(const std::string& text, std::size_t width) {
  const std::size_t used = display_width(text);
  return std::string(width > used ? width - used : 0, ' ') + text;
}

std::string pad_right(const std::string& text, std::size_t width) {
  const std::size_t used = display_width(text);
  return text + std::string(width > used ? width - used : 0, ' ');
}

std::string clipped(const std::string& text, std::size_t width) {
  if (display_width(text) <= width) return text;
  return width == 0 ? "" : text.substr(0, bytes_within(text, width - 1)) + "…";
}

std::string wrapped(const std::string& text, std::size_t width, std::size_t indent) {
  if (width == 0 || display_width(text) <= width) return text;
  const std::size_t room = std::max(width, indent + 8);
  const std::string start = '\n' + std::string(indent, ' ');
  std::string result;
  std::size_t used = 0;
  std::string_view rest = text;
  for (std::string gap; !rest.empty(); gap = " ") {
    std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    if (used + gap.size() + display_width(word) > room && used > indent) {
      result += start;
      used = indent;
      gap.clear();
    }
    result += gap;
    used += gap.size();
    while (used + display_width(word) > room) {
      const std::size_t bytes = std::max<std::size_t>(bytes_within(word, room - used), 1);
      result.append(word.substr(0, bytes)) += start;
      word.remove_prefix(bytes);
      used = indent;
    }
    result += word;
    used += display_width(word);
  }
  return result;
}

} // namespace tessera::apps
