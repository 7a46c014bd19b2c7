#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include <fmt/format.h>

#include "charts.hpp"
#include "panels.hpp"
#include "plot.hpp"
#include "report/format.hpp"
#include "report/grouping.hpp"
#include "report/html.hpp"

namespace tessera::report {
namespace {

std::set<double> sizes_of(const std::vector<const Entry*>& entries) {
  std::set<double> sizes;
  for (const Entry* entry : entries) sizes.insert(static_cast<double>(entry->n));
  return sizes;
}

/// Labels each line at its end. Labels beside the plot are moved apart where they would touch; a line that ends early
/// has its label beside its last point, if there is room.
void label_ends(Plot& plot, const Run& run, std::vector<EntryGroup>& lines, const EntryGroup& best,
                std::int64_t largest) {
  std::sort(lines.begin(), lines.end(), [&](const EntryGroup& a, const EntryGroup& b) {
    return plot.y().at(a.entries.back()->median) < plot.y().at(b.entries.back()->median);
  });
  const auto ends_early = [&](const EntryGroup& line) {
    if (line.entries.back()->n == largest) return false;
    const Entry& last = *line.entries.back();
    plot.label({static_cast<double>(last.n), last.median}, fmt::format("name {}", backend_class(last.backend)),
               run.label_with_mode(last));
    return true;
  };
  std::erase_if(lines, ends_early);
  std::vector<double> wanted;
  wanted.reserve(lines.size());
  for (const EntryGroup& line : lines) wanted.push_back(plot.y().at(line.entries.back()->median));
  const double x = plot.size().width - plot.size().right;
  const std::vector<double> places = spread_out(wanted, label_gap, 24, plot.size().height - 30);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Entry& last = *lines[i].entries.back();
    const std::string_view css = backend_class(last.backend);
    plot.leader({plot.x().at(static_cast<double>(last.n)) + 4, wanted[i]}, {x + 10, places[i]}, css);
    plot.text({x + 13, places[i] + 4}, fmt::format("name {}{}", css, lines[i].name == best.name ? " best" : ""),
              run.label_with_mode(last), "start");
  }
}

std::string size_chart(const EntryGroup& group, const Run& run, double width) {
  const std::set<double> sizes = sizes_of(group.entries);
  std::vector<EntryGroup> lines = group_entries(group.entries, [](const Entry& entry) {
    return fmt::format("{} {} {} {}", entry.backend, entry.kernel, entry.math, entry.threads);
  });
  std::vector<double> times;
  for (EntryGroup& line : lines) {
    std::stable_sort(line.entries.begin(), line.entries.end(),
                     [](const Entry* a, const Entry* b) { return a->n < b->n; });
    for (const Entry* entry : line.entries) times.push_back(entry->median);
  }
  const EntryGroup* fastest = nullptr;
  for (const EntryGroup& line : lines)
    if (static_cast<double>(line.entries.back()->n) == *sizes.rbegin() && !line.entries.back()->failing() &&
        (fastest == nullptr || line.entries.back()->median < fastest->entries.back()->median))
      fastest = &line;
  const EntryGroup best = fastest != nullptr ? *fastest : EntryGroup{};

  const Entry& first = *group.entries.front();
  const bool cube = first.op == "gemm" || first.sizes == 3;
  Axis x(Axis::Kind::Log, {sizes.begin(), sizes.end()}, cube ? "m = n = k" : first.sizes == 2 ? "m = n" : "elements");
  if (sizes.size() <= 8) x.set_ticks({sizes.begin(), sizes.end()});
  Axis y(Axis::Kind::Log, times, "median time");
  y.set_words(time_tick);
  std::size_t longest = 0;
  for (const EntryGroup& line : lines) longest = std::max(longest, run.label_with_mode(*line.entries.front()).size());
  const double right = 20 + 6.2 * static_cast<double>(std::min<std::size_t>(longest, 30));
  Plot plot(x, y, {std::max(width, 260 + right), chart_height(width, lines.size()), right},
            "Time over size, " + group.name);
  for (const EntryGroup& line : lines) {
    const bool is_best = line.name == best.name;
    std::vector<Point> points;
    for (const Entry* entry : line.entries) points.push_back({static_cast<double>(entry->n), entry->median});
    const std::string css = fmt::format("{}{}", backend_class(line.entries.front()->backend), is_best ? " best" : "");
    plot.line(points, css, line.name);
    for (const Entry* entry : line.entries)
      plot.mark({static_cast<double>(entry->n), entry->median}, css, entry->median, mark_title(*entry, run),
                entry->failing());
  }
  label_ends(plot, run, lines, best, static_cast<std::int64_t>(*sizes.rbegin()));
  return plot.finish();
}

/// Returns a chart for each place and type that was measured at several sizes.
std::vector<Panel> size_panels(const Run& run, const std::function<bool(const Entry&)>& keep) {
  const auto place_and_type = [&](const Entry& entry) {
    return (entry.op == "gemm" ? "" : entry.op + ", ") + run.place(entry) + ", " + entry.dtype;
  };
  std::vector<Panel> panels;
  for (const EntryGroup& group : group_entries(run, keep, place_and_type))
    if (sizes_of(group.entries).size() > 1)
      panels.push_back(
          {escaped(group.name), [&run, group](double width) { return size_chart(group, run, width); }, ""});
  return panels;
}

} // namespace

std::string size_section(const Run& run) {
  const auto measured = [](const Entry& entry) {
    return entry.timed() && !entry.transfer && entry.n > 0 && entry.sizes_are_equal();
  };
  const std::vector<Panel> strict =
      size_panels(run, [&](const Entry& entry) { return measured(entry) && is_strict(entry); });
  const std::vector<Panel> others =
      size_panels(run, [&](const Entry& entry) { return measured(entry) && !is_strict(entry); });
  if (strict.empty() && others.empty()) return {};
  std::string html =
      "<section id=\"size\">\n<h2>Time over size</h2>\n<p class=\"lead\">Median time of each kernel on square "
      "products, both axes logarithmic; lower is faster. The bold line is the fastest at the largest size.</p>\n";
  if (!strict.empty()) html += laid_out(strict);
  if (!others.empty()) html += strict.empty() ? laid_out(others) : folded("Other modes", laid_out(others));
  return html + "</section>\n";
}

} // namespace tessera::report
