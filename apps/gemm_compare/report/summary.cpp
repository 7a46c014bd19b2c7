#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "format.hpp"
#include "grouping.hpp"
#include "html.hpp"
#include "page.hpp"
#include "reproduce.hpp"

namespace tessera::report {
namespace {

std::string tile(std::string_view css, const std::string& value, const std::string& what) {
  return fmt::format("<div class=\"tile {}\"><b>{}</b><span>{}</span></div>\n", css, value, what);
}

/// A tile for each type with the fastest entry that passed, in strict mode and over all products.
std::string best_tiles(const Run& run) {
  const auto keep = [](const Entry& entry) {
    return !entry.transfer && !entry.failing() && entry.speed() > 0 && entry.math == "strict";
  };
  std::string html;
  for (const EntryGroup& group : group_entries(run, keep, [](const Entry& entry) {
         return entry.op == "gemm" ? entry.dtype : entry.op + " " + entry.dtype;
       })) {
    const Entry& best = **std::max_element(group.entries.begin(), group.entries.end(),
                                           [](const Entry* a, const Entry* b) { return a->speed() < b->speed(); });
    html += tile(
        backend_class(best.backend), speed_text(best),
        fmt::format(
            "best strict {}: {} {}, {}{}", escaped(group.name), escaped(best.backend), escaped(run.label(best)),
            escaped(product_text(best)),
            best.ceiling_percent > 0 ? fmt::format(", {} of the ceiling", percent_text(best.ceiling_percent)) : ""));
  }
  return html;
}

} // namespace

std::string summary_section(const Run& run) {
  std::size_t passed = 0, failing = 0, checked = 0, left_out = 0;
  const Entry* nearest = nullptr; // the entry whose error is nearest to its bound
  for (const Entry& entry : run.entries) {
    if (entry.transfer) continue;
    passed += entry.verdict == "pass" ? 1 : 0;
    failing += entry.failing() ? 1 : 0;
    left_out += !entry.failing() && entry.verdict != "pass" ? 1 : 0;
    if (!std::isfinite(entry.max_over_bound)) continue;
    ++checked;
    if (nearest == nullptr || entry.max_over_bound > nearest->max_over_bound) nearest = &entry;
  }
  std::string html = "<section id=\"summary\" class=\"tiles\">\n";
  html += tile(failing > 0 ? "bad" : "good", fmt::format("{} of {}", passed, passed + failing),
               "rows within their proven error bound" +
                   (left_out > 0 ? fmt::format("; {} rejected, skipped or not checked", left_out) : ""));
  html += best_tiles(run);
  if (checked > 0)
    html += tile("", bound_text(nearest->max_over_bound),
                 fmt::format("largest error ÷ bound: {} {}, {}", escaped(nearest->backend),
                             escaped(run.label(*nearest)), escaped(product_name(*nearest))));
  return html + "</section>\n";
}

std::string failures_section(const Run& run) {
  std::string items;
  for (const Entry& entry : run.entries)
    if (entry.failing())
      items += fmt::format("<li><b>{} {}</b>, {}: <b class=\"bad\">{}</b>{}<br><code>{}</code></li>\n",
                           escaped(entry.backend), escaped(run.label(entry)), escaped(product_name(entry)),
                           escaped(entry.verdict), entry.reason.empty() ? "" : ", " + escaped(entry.reason),
                           escaped(reproduce_command(entry, run)));
  if (items.empty()) return {};
  return "<section id=\"failures\">\n<h2>Failing</h2>\n<p class=\"lead\">Each with the shortest command that shows it "
         "again.</p>\n<ul>\n" +
         items + "</ul>\n</section>\n";
}

} // namespace tessera::report
