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

bool placed(const Row& row) {
  return row.sizes == 0 && row.gflops > 0 && row.mean_rel >= 0 && std::isfinite(row.mean_rel);
}

/// No other entry is both faster and more accurate.
bool on_front(const Row& row, const std::vector<const Row*>& rows) {
  return std::none_of(rows.begin(), rows.end(), [&](const Row* other) {
    return !other->failing() && other->gflops > row.gflops && other->mean_rel <= row.mean_rel;
  });
}

std::string error_chart(const RowGroup& group, const Run& run, double width) {
  std::vector<double> speeds, errors;
  bool exact = false;
  for (const Row* row : group.rows) {
    speeds.push_back(row->gflops);
    if (row->mean_rel > 0) errors.push_back(row->mean_rel);
    exact |= row->mean_rel == 0;
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
  const auto height = [&](const Row& row) { return row.mean_rel > 0 ? row.mean_rel : floor; };
  for (const Row* row : group.rows)
    plot.mark({row->gflops, height(*row)}, backend_class(row->backend), row->mean_rel,
              mark_title(*row, run) + ", error " + error_text(row->mean_rel) + ", " + bound_text(row->max_over_bound) +
                  " of the bound",
              row->failing());
  std::vector<const Row*> ranked = group.rows; // failing entries and unbeaten entries get their names first
  std::stable_sort(ranked.begin(), ranked.end(), [&](const Row* a, const Row* b) {
    const auto rank = [&](const Row* row) { return row->failing() ? 0 : on_front(*row, group.rows) ? 1 : 2; };
    return rank(a) != rank(b) ? rank(a) < rank(b) : a->gflops > b->gflops;
  });
  for (const Row* row : ranked)
    plot.label({row->gflops, height(*row)},
               fmt::format("name {}{}", backend_class(row->backend), row->failing() ? " failing" : ""),
               run.label_with_mode(*row));
  return plot.finish();
}

} // namespace

std::string error_section(const Run& run) {
  std::vector<Panel> panels;
  const auto keep = [](const Row& row) { return !row.transfer && placed(row); };
  for (const RowGroup& type : group_rows(run, keep, [](const Row& row) { return row.op + row.dtype; })) {
    const auto products = group_rows(type.rows, product_name);
    const RowGroup& shown = main_product(products);
    panels.push_back({escaped(shown.name), [&run, shown](double width) { return error_chart(shown, run, width); }, ""});
  }
  if (panels.empty()) return {};
  return "<section id=\"error\">\n<h2>Error against speed</h2>\n<p class=\"lead\">Right is faster, down is more "
         "accurate, "
         "each type at its largest product. A cross is a kernel over its proven bound or failed.</p>\n" +
         laid_out(panels) + "</section>\n";
}

} // namespace tessera::report
