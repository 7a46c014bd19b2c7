/// Speed over operations per byte, under the measured ceilings.

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "charts.hpp"
#include "panels.hpp"
#include "plot.hpp"
#include "report/format.hpp"
#include "report/grouping.hpp"
#include "report/html.hpp"
#include "roofs.hpp"

namespace tessera::report {
namespace {

std::string name_of(const Roof& roof, const std::vector<Roof>& all) {
  std::string name;
  for (const std::string& math : roof.maths) name += (name.empty() ? "" : ", ") + math;
  const auto of_other_threads = [&](const Roof& other) { return other.threads != roof.threads; };
  if (std::any_of(all.begin(), all.end(), of_other_threads))
    name += fmt::format(", {} thread{}", roof.threads, roof.threads == 1 ? "" : "s");
  return fmt::format("{}: {}", name, speed_text(roof.peak));
}

void draw(Plot& plot, const std::vector<Roof>& roofs) {
  const Axis &x = plot.x(), &y = plot.y();
  for (const Roof& roof : roofs) {
    std::vector<Point> points{{x.low(), roof.at(x.low())}};
    if (points.front().y < y.low()) points.front() = {y.low() / roof.bandwidth, y.low()};
    const double ridge = roof.bandwidth > 0 ? roof.peak / roof.bandwidth : 0;
    if (ridge > x.low() && ridge < x.high()) points.push_back({ridge, roof.peak});
    points.push_back({x.high(), roof.at(x.high())});
    plot.line(points, "roof", name_of(roof, roofs));
  }
}

/// Writes the names of the roofs above their flat parts: from the left end, past the slope of a higher roof, or up to
/// the right end if there is no room.
void name(Plot& plot, const std::vector<Roof>& roofs) {
  constexpr double line_height = 13, letter = 6.4;
  const Axis &x = plot.x(), &y = plot.y();
  const double right = plot.size().width - plot.size().right;
  const double slope =
      (y.at(1) - y.at(10)) / (x.at(10) - x.at(1)); // of a line on which speed is proportional to intensity
  double last = plot.size().height;
  for (const Roof& roof : roofs) {
    const std::string words = name_of(roof, roofs);
    const double line = y.at(roof.peak);
    last = std::min(last - line_height, line - 5);
    const double ridge = roof.bandwidth > 0 ? x.at(roof.peak / roof.bandwidth) : right;
    const double from = ridge + 4 + (line - last + line_height) / slope;
    const bool fits = from + letter * static_cast<double>(words.size()) < right;
    plot.text({fits ? from : right, last}, "roof-name", words, fits ? "start" : "end");
  }
}

/// Draws the slopes of the caches up to the highest peak, and names each at its lower end.
void draw(Plot& plot, const std::vector<CacheSlope>& caches, double peak) {
  const Axis &x = plot.x(), &y = plot.y();
  const auto start = [&](const CacheSlope& cache) {
    const double low = std::max(x.low(), y.low() / cache.bandwidth);
    return Point{low, cache.bandwidth * low};
  };
  std::vector<double> wanted;
  wanted.reserve(caches.size());
  for (const CacheSlope& cache : caches) wanted.push_back(y.at(start(cache).y) - 4);
  const std::vector<double> places = spread_out(wanted, 12, 20, y.at(y.low()) - 4);
  for (std::size_t i = 0; i < caches.size(); ++i) {
    const Point from = start(caches[i]);
    const std::string name = fmt::format("{} {} GB/s", caches[i].name, number_text(caches[i].bandwidth));
    if (from.y >= peak) continue;
    plot.line({from, {peak / caches[i].bandwidth, peak}}, "roof cache", name);
    plot.text({x.at(from.x) + 4, places[i]}, "roof-name cache", name, "start");
  }
}

std::string roofline_chart(const EntryGroup& group, const Run& run, double width) {
  const auto [roofs, caches] = roofs_of(group, run);
  std::vector<double> intensities, speeds;
  for (const Entry* entry : group.entries) {
    intensities.push_back(intensity(*entry));
    speeds.push_back(entry->gflops);
  }
  for (const Roof& roof : roofs) {
    speeds.push_back(1.4 * roof.peak);
    if (roof.bandwidth > 0) intensities.push_back(0.5 * roof.peak / roof.bandwidth);
    if (!caches.empty()) intensities.push_back(0.5 * roof.peak / caches.front().bandwidth);
  }
  const Axis x(Axis::Kind::Log, intensities, "operations per byte");
  Axis y(Axis::Kind::Log, speeds, "speed in FLOP/s");
  y.set_words(speed_tick);
  Plot plot(x, y, {width, chart_height(width, 0)}, "Roofline, " + group.name);
  draw(plot, roofs);
  if (!roofs.empty()) draw(plot, caches, roofs.back().peak);
  for (const Entry* entry : group.entries)
    plot.mark({intensity(*entry), entry->gflops}, backend_class(entry->backend), entry->gflops, mark_title(*entry, run),
              entry->failing());
  name(plot, roofs);
  // The best entry at each intensity gets its name, each kernel once. The names of other entries are in their tooltips.
  std::map<double, const Entry*> best;
  for (const Entry* entry : group.entries) {
    const Entry*& at = best[intensity(*entry)];
    if (!entry->failing() && (at == nullptr || entry->gflops > at->gflops)) at = entry;
  }
  std::set<std::string> named;
  for (auto at = best.rbegin(); at != best.rend(); ++at)
    if (at->second != nullptr && named.insert(at->second->kernel + ", " + at->second->math).second)
      plot.label({at->first, at->second->gflops}, fmt::format("name {}", backend_class(at->second->backend)),
                 run.label_with_mode(*at->second));
  return plot.finish();
}

std::string caption(const EntryGroup& group, const Run& run) {
  const std::vector<Roof> roofs = roofs_of(group, run).roofs;
  const bool has_slope = !roofs.empty() && roofs.front().bandwidth > 0;
  return escaped(group.name) +
         (has_slope ? fmt::format(" <small>memory {} GB/s</small>", number_text(roofs.front().bandwidth)) : "");
}

} // namespace

std::string roofline_section(const Run& run) {
  const auto keep = [](const Entry& entry) {
    return entry.op == "gemm" && !entry.transfer && entry.gflops > 0 && entry.m > 0 && entry.n > 0 && entry.k > 0;
  };
  std::vector<Panel> panels;
  for (const EntryGroup& group :
       group_entries(run, keep, [&](const Entry& entry) { return run.place(entry) + ", " + entry.dtype; }))
    panels.push_back(
        {caption(group, run), [&run, group](double width) { return roofline_chart(group, run, width); }, ""});
  if (panels.empty()) return {};
  return "<section id=\"roofline\">\n<h2>Roofline</h2>\n<p class=\"lead\">Speed over operations per byte (each operand "
         "moved once), under what this machine was measured to reach: slopes are the bandwidths of its memory and "
         "caches, the flat part is its multiply-add peak.</p>\n" +
         laid_out(panels) + "</section>\n";
}

} // namespace tessera::report
