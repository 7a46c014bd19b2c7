#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "columns/columns.hpp"
#include "format.hpp"
#include "grouping.hpp"
#include "html.hpp"
#include "page.hpp"
#include "reproduce.hpp"

namespace tessera::report {
namespace {

/// A cell with a number and the value to sort by. Unknown numbers sort last.
std::string number_cell(double value, const std::string& text) {
  return std::isfinite(value) ? fmt::format("<td data-s=\"{:.6g}\">{}</td>", value, text) : "<td></td>";
}

std::string verdict_cell(const Entry& entry, const Run& run) {
  std::string html = fmt::format("<td class=\"{}\">{}",
                                 entry.failing()           ? "bad"
                                 : entry.verdict == "pass" ? "good"
                                                           : "quiet",
                                 escaped(entry.verdict));
  if (!entry.reason.empty()) html += fmt::format("<small>{}</small>", escaped(entry.reason));
  if (entry.failing()) html += fmt::format("<code>{}</code>", escaped(reproduce_command(entry, run)));
  return html + "</td>";
}

std::string cell(const Column& column, const Entry& entry, const Run& run) {
  switch (column.print) {
    case Print::Backend:
      return fmt::format("<td class=\"{}\">{}</td>", backend_class(entry.backend), escaped(entry.backend));
    case Print::Kernel:
      return fmt::format("<th scope=\"row\">{}{}</th>", escaped(run.label(entry)),
                         entry.canonical ? "<i>" + contract_mark(entry) + "</i>" : "");
    case Print::Verdict:
      return verdict_cell(entry, run);
    case Print::Speed: // the heading has the unit
    case Print::Bandwidth:
      return number_cell(number_of(column, entry), number_text(number_of(column, entry)));
    default:
      return is_number(column) ? number_cell(number_of(column, entry), escaped(short_text(column, entry)))
                               : fmt::format("<td>{}</td>", escaped(short_text(column, entry)));
  }
}

/// A control that chooses among the words of a column; empty if the column has fewer than two words.
std::string filter(const char* title, std::size_t column, const std::set<std::string>& words) {
  if (words.size() < 2) return {};
  std::string html = fmt::format("<label>{} <select data-column=\"{}\"><option value=\"\">all</option>", title, column);
  for (const std::string& word : words) html += fmt::format("<option>{}</option>", escaped(word));
  return html + "</select></label>\n";
}

} // namespace

std::string table_section(const Run& run) {
  std::vector<const Column*> shown = shown_in(&Column::page);
  std::erase_if(shown, [&](const Column* column) {
    return column->optional && is_number(*column) &&
           std::all_of(run.entries.begin(), run.entries.end(),
                       [&](const Entry& entry) { return lacks(*column, entry); });
  });
  const auto place_of = [&](std::string_view name) {
    const auto at =
        std::find_if(shown.begin(), shown.end(), [&](const Column* column) { return column->name == name; });
    return static_cast<std::size_t>(at - shown.begin());
  };
  std::set<std::string> backends, types, products, verdicts;
  std::string body;
  for (const Entry& entry : run.entries) {
    backends.insert(entry.backend);
    types.insert(entry.dtype);
    products.insert(product_text(entry));
    verdicts.insert(entry.verdict);
    body += "<tr>";
    for (const Column* column : shown) body += cell(*column, entry, run);
    body += "</tr>\n";
  }
  std::string head;
  for (const Column* column : shown)
    head += fmt::format("<th scope=\"col\" class=\"{}\" title=\"{}\"><button type=\"button\">{}</button></th>",
                        is_number(*column) ? "number" : "", column->explains, column->page.heading);
  return fmt::format(
             "<section id=\"table\">\n<h2>Every entry</h2>\n<form class=\"filters\">\n"
             "<label>Kernel <input type=\"search\" placeholder=\"part of its name\" data-column=\"{}\"></label>\n",
             place_of("kernel")) +
         filter("Backend", place_of("backend"), backends) + filter("Type", place_of("dtype"), types) +
         filter("Product", place_of("product"), products) + filter("Verdict", place_of("verdict"), verdicts) +
         fmt::format(
             "<output>{} rows</output>\n</form>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
             "aria-label=\"Table of all rows\"><table>\n<thead><tr>{}</tr></thead>\n<tbody>\n",
             run.entries.size(), head) +
         body + "</tbody>\n</table></div>\n</section>\n";
}

} // namespace tessera::report
