#include "html.hpp"

#include <array>
#include <map>

#include <fmt/format.h>

#include <tessera/backend_list.hpp>

#include "format.hpp"

namespace tessera::report {

std::string escaped(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (const char c : text) switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default: // control characters are no text in HTML
        if (static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t')
          result += c;
        else
          result += "\ufffd";
    }
  return result;
}

std::string_view backend_class(const std::string& backend) {
  static const auto classes = [] {
    std::map<std::string_view, std::string> all;
    for (const BuiltInBackend& line : built_in_backends) all.emplace(line.name, fmt::format("b-{}", line.name));
    return all;
  }();
  const auto found = classes.find(backend);
  return found != classes.end() ? std::string_view(found->second) : "b-other";
}

std::string folded(std::string_view summary, const std::string& content) {
  return fmt::format("<details class=\"folded\"><summary>{}</summary>\n{}</details>\n", escaped(summary), content);
}

std::string mark_title(const Entry& entry, const Run& run) {
  std::string title = fmt::format("{} {}, {} {}, {}: {}", entry.backend, run.label(entry), entry.dtype, entry.math,
                                  product_text(entry), speed_text(entry));
  if (entry.timed()) title += ", " + time_text(entry.median);
  if (entry.ceiling_percent > 0) title += fmt::format(", {} of the ceiling", percent_text(entry.ceiling_percent));
  if (entry.failing()) title += ", " + entry.verdict;
  return title;
}

} // namespace tessera::report
