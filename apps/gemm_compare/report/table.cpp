#include <array>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "format.hpp"
#include "grouping.hpp"
#include "html.hpp"
#include "page.hpp"
#include "reproduce.hpp"

namespace tessera::report {
namespace {

struct Column {
  const char* title;
  bool numeric;
  const char* explains;
};
constexpr std::array columns{
    Column{"backend", false, ""},
    Column{"kernel", false, ""},
    Column{"verdict", false, ""},
    Column{"type", false, ""},
    Column{"math", false, "the mode; ≡ marks canonical summation"},
    Column{"product", true, "m×n×k; sorted by the number of multiply-adds"},
    Column{"time", true, "median of the runs"},
    Column{"±", true, "half the spread from the fastest to the slowest run, of the median"},
    Column{"GFLOP/s", true, ""},
    Column{"ceiling", true, "share of the measured multiply-add peak or bandwidth, whichever binds"},
    Column{"gain", true, "over the first rung"},
    Column{"max error", true, "largest relative error"},
    Column{"÷ bound", true, "largest error ÷ its proven bound; above 1 is wrong"},
    Column{"bits", true, "elements whose bits differ from the reference's"},
    Column{"in u", true, "largest error ÷ (|A||B|), in units of the type's roundoff"},
};

/// A number with the value to sort by; unknown ones sort last.
std::string number_cell(double value, const std::string& text) {
  return std::isfinite(value) ? fmt::format("<td data-s=\"{:.6g}\">{}</td>", value, text) : "<td></td>";
}

std::string verdict_cell(const Row& row, const Run& run) {
  std::string html = fmt::format("<td class=\"{}\">{}",
                                 row.failing()           ? "bad"
                                 : row.verdict == "pass" ? "good"
                                                         : "quiet",
                                 escaped(row.verdict));
  if (!row.reason.empty()) html += fmt::format("<small>{}</small>", escaped(row.reason));
  if (row.failing()) html += fmt::format("<code>{}</code>", escaped(reproduce_command(row, run)));
  return html + "</td>";
}

std::string line(const Row& row, const Run& run) {
  std::string html =
      fmt::format("<tr><td class=\"{}\">{}</td><th scope=\"row\">{}</th>{}<td>{}</td><td>{}{}</td>",
                  backend_class(row.backend), escaped(row.backend), escaped(run.label(row)), verdict_cell(row, run),
                  escaped(row.dtype), escaped(row.math), row.canonical ? " ≡" : "");
  html += number_cell(work(row), escaped(product_text(row)));
  html += number_cell(row.median, time_text(row.median));
  html += number_cell(spread_percent(row), percent_text(spread_percent(row)));
  html += number_cell(row.gflops, number_text(row.gflops));
  html += number_cell(row.ceiling_percent, percent_text(row.ceiling_percent));
  html += number_cell(row.speedup, factor_text(row.speedup));
  html += number_cell(row.max_rel, error_text(row.max_rel));
  html += number_cell(row.max_over_bound, bound_text(row.max_over_bound));
  html += number_cell(row.differing_bits, count_text(row.differing_bits));
  html += number_cell(row.componentwise, number_text(row.componentwise));
  return html + "</tr>\n";
}

/// A choice among the words of one column.
std::string filter(const char* title, int column, const std::set<std::string>& words) {
  if (words.size() < 2) return {};
  std::string html = fmt::format("<label>{} <select data-column=\"{}\"><option value=\"\">all</option>", title, column);
  for (const std::string& word : words) html += fmt::format("<option>{}</option>", escaped(word));
  return html + "</select></label>\n";
}

} // namespace

std::string table_section(const Run& run) {
  std::set<std::string> backends, types, products, verdicts;
  std::string body;
  for (const Row& row : run.rows) {
    backends.insert(row.backend);
    types.insert(row.dtype);
    products.insert(product_text(row));
    verdicts.insert(row.verdict);
    body += line(row, run);
  }
  std::string head;
  for (const Column& column : columns)
    head += fmt::format("<th scope=\"col\" class=\"{}\"{}><button type=\"button\">{}</button></th>",
                        column.numeric ? "number" : "",
                        *column.explains != '\0' ? fmt::format(" title=\"{}\"", column.explains) : "", column.title);
  return "<section id=\"table\">\n<h2>Every row</h2>\n<form class=\"filters\">\n"
         "<label>Kernel <input type=\"search\" placeholder=\"part of its name\" data-column=\"1\"></label>\n" +
         filter("Backend", 0, backends) + filter("Type", 3, types) + filter("Product", 5, products) +
         filter("Verdict", 2, verdicts) +
         fmt::format(
             "<output>{} rows</output>\n</form>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
             "aria-label=\"Table of all rows\"><table>\n<thead><tr>{}</tr></thead>\n<tbody>\n",
             run.rows.size(), head) +
         body + "</tbody>\n</table></div>\n</section>\n";
}

} // namespace tessera::report
