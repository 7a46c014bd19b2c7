#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "charts.hpp"
#include "panels.hpp"
#include "plot.hpp"
#include "report/format.hpp"
#include "report/grouping.hpp"
#include "report/html.hpp"

namespace tessera::report {
namespace {

bool placed(const Entry& entry) {
  return entry.sizes == 0 && entry.gflops > 0 && entry.mean_rel >= 0 && std::isfinite(entry.mean_rel);
}

/// No other entry is both faster and more accurate.
bool on_front(const Entry& entry, const std::vector<const Entry*>& entries) {
  return std::none_of(entries.begin(), entries.end(), [&](const Entry* other) {
    return !other->failing() && other->gflops > entry.gflops && other->mean_rel <= entry.mean_rel;
  });
}

std::string error_chart(const EntryGroup& group, const Run& run, double width) {
  std::vector<double> speeds, errors;
  bool exact = false;
  for (const Entry* entry : group.entries) {
    speeds.push_back(entry->gflops);
    if (entry->mean_rel > 0) errors.push_back(entry->mean_rel);
    exact |= entry->mean_rel == 0;
  }
  // A logarithmic axis has no zero: errors of zero stand on a separate line below all others.
  double floor = 0;
  if (exact) {
    floor = errors.empty() ? 1e-17 : *std::min_element(errors.begin(), errors.end()) / 10;
    errors.push_back(floor);
    if (errors.size() == 1) errors.push_back(1e-15);
  }
  Axis x(Axis::Kind::Log, speeds, "speed in FLOP/s");
  x.set_words(speed_tick);
  Axis y(Axis::Kind::Log, errors, "mean relative error");
  if (exact) {
    std::vector<double> ticks = y.ticks();
    std::erase_if(ticks, [&](double tick) { return tick < 4 * floor; });
    ticks.push_back(floor);
    y.set_ticks(ticks);
    y.set_floor(floor, "0");
  }
  Plot plot(x, y, {width, chart_height(width, 0), 16}, "Error against speed, " + group.name);
  const auto height = [&](const Entry& entry) { return entry.mean_rel > 0 ? entry.mean_rel : floor; };
  for (const Entry* entry : group.entries)
    plot.mark({entry->gflops, height(*entry)}, backend_class(entry->backend), entry->mean_rel,
              mark_title(*entry, run) + ", error " + error_text(entry->mean_rel) + ", " +
                  bound_text(entry->max_over_bound) + " of the bound",
              entry->failing());
  std::vector<const Entry*> ranked = group.entries; // failing entries and unbeaten entries get their names first
  std::stable_sort(ranked.begin(), ranked.end(), [&](const Entry* a, const Entry* b) {
    const auto rank = [&](const Entry* entry) {
      return entry->failing() ? 0 : on_front(*entry, group.entries) ? 1 : 2;
    };
    return rank(a) != rank(b) ? rank(a) < rank(b) : a->gflops > b->gflops;
  });
  for (const Entry* entry : ranked)
    plot.label({entry->gflops, height(*entry)},
               fmt::format("name {}{}", backend_class(entry->backend), entry->failing() ? " failing" : ""),
               run.label_with_mode(*entry));
  return plot.finish();
}

} // namespace

std::string error_section(const Run& run) {
  std::vector<Panel> panels;
  const auto keep = [](const Entry& entry) { return !entry.transfer && placed(entry); };
  for (const EntryGroup& type : group_entries(run, keep, [](const Entry& entry) { return entry.op + entry.dtype; })) {
    const auto products = group_entries(type.entries, product_name);
    const EntryGroup& shown = main_product(products);
    panels.push_back({escaped(shown.name), [&run, shown](double width) { return error_chart(shown, run, width); }, ""});
  }
  if (panels.empty()) return {};
  return "<section id=\"error\">\n<h2>Error against speed</h2>\n<p class=\"lead\">Right is faster, down is more "
         "accurate, "
         "each type at its largest product. A cross is a kernel over its proven bound or failed.</p>\n" +
         laid_out(panels) + "</section>\n";
}

} // namespace tessera::report
