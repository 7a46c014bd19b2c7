#include "html.hpp"

#include <array>

#include <fmt/format.h>

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
  if (backend == "reference") return "b-reference";
  if (backend == "openmp") return "b-openmp";
  if (backend == "tbb") return "b-tbb";
  if (backend == "cuda") return "b-cuda";
  return "b-other";
}

std::string mark_title(const Row& row, const Run& run) {
  std::string title = fmt::format("{} {}, {} {}, {}: {}", row.backend, run.label(row), row.dtype, row.math,
                                  product_text(row), speed_text(row.gflops));
  if (row.timed()) title += ", " + time_text(row.median);
  if (row.ceiling_percent > 0) title += fmt::format(", {} of the ceiling", percent_text(row.ceiling_percent));
  if (row.failing()) title += ", " + row.verdict;
  return title;
}

} // namespace tessera::report
