#include "terminal.hpp"

#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <tessera/status.hpp>

namespace tessera::apps {
namespace {

[[noreturn]] void fail_at_stdout(int error) {
  throw IoError(std::string("cannot write to stdout: ") + std::strerror(error));
}

} // namespace

bool is_terminal(std::FILE* stream) { return isatty(fileno(stream)) == 1; }

bool shows_colour(std::FILE* stream) {
  const char* no_color = std::getenv("NO_COLOR");
  const bool refused = no_color != nullptr && *no_color != '\0';
  return !refused && is_terminal(stream);
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

std::size_t display_width(const std::string& text) {
  const auto starts = [](char c) { return (static_cast<unsigned char>(c) & 0xC0u) != 0x80u; };
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), starts));
}

std::string pad_left(const std::string& text, std::size_t width) {
  const std::size_t used = display_width(text);
  return std::string(width > used ? width - used : 0, ' ') + text;
}

std::string pad_right(const std::string& text, std::size_t width) {
  const std::size_t used = display_width(text);
  return text + std::string(width > used ? width - used : 0, ' ');
}

} // namespace tessera::apps
