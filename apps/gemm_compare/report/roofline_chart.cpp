/// The ceilings are not in the document by themselves but in each row's percentage of them: speed ÷ percentage is the
/// ceiling at the row's intensity. The largest is the peak; what lies below it is on the slope of the bandwidth.

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "charts.hpp"
#include "format.hpp"
#include "grouping.hpp"
#include "html.hpp"
#include "plot.hpp"

namespace tessera::report {
namespace {

double element_bytes(const std::string& dtype) { return dtype == "f64" ? 8 : dtype == "f32" ? 4 : 2; }

/// Operations per byte, each operand moved once.
double intensity(const Row& row) {
  const double m = static_cast<double>(row.m), n = static_cast<double>(row.n), k = static_cast<double>(row.k);
  return 2 * m * n * k / (element_bytes(row.dtype) * (m * k + k * n + (row.beta != 0 ? 2 : 1) * m * n));
}

struct Roof {
  std::vector<std::string> maths; ///< modes that share it
  int threads = 0;
  double peak = 0;      ///< GFLOP/s
  double bandwidth = 0; ///< GB/s; 0 where no row was bound by it
  double at(double x) const { return bandwidth > 0 ? std::min(peak, bandwidth * x) : peak; }
};

double ceiling_of(const Row& row) { return 100 * row.gflops / row.ceiling_percent; }

Roof roof_of(const std::vector<const Row*>& rows) {
  Roof roof{{rows.front()->math}, rows.front()->threads, 0, 0};
  for (const Row* row : rows)
    if (row->ceiling_percent > 0) roof.peak = std::max(roof.peak, ceiling_of(*row));
  for (const Row* row : rows)
    if (row->ceiling_percent > 0 && ceiling_of(*row) < 0.99 * roof.peak)
      roof.bandwidth = std::max(roof.bandwidth, ceiling_of(*row) / intensity(*row));
  return roof;
}

/// One roof for each mode and number of threads, the highest that a backend measured.
std::vector<Roof> highest_roofs(const std::vector<const Row*>& rows) {
  std::vector<Roof> roofs;
  for (const RowGroup& group :
       group_rows(rows, [](const Row& row) { return fmt::format("{} {} {}", row.backend, row.math, row.threads); })) {
    const Roof roof = roof_of(group.rows);
    if (!(roof.peak > 0)) continue;
    const auto same = std::find_if(roofs.begin(), roofs.end(), [&](const Roof& other) {
      return other.maths == roof.maths && other.threads == roof.threads;
    });
    if (same == roofs.end()) {
      roofs.push_back(roof);
    } else {
      same->peak = std::max(same->peak, roof.peak);
      same->bandwidth = std::max(same->bandwidth, roof.bandwidth);
    }
  }
  return roofs;
}

/// The same, where those that coincide share one, lowest first. A mode without a row that the memory bound takes the
/// group's slope: the memory is the same.
std::vector<Roof> roofs_of(const std::vector<const Row*>& rows) {
  std::vector<Roof> roofs;
  double bandwidth = 0;
  for (const Roof& roof : highest_roofs(rows)) {
    bandwidth = std::max(bandwidth, roof.bandwidth);
    const auto same = std::find_if(roofs.begin(), roofs.end(),
                                   [&](const Roof& other) { return std::abs(other.peak / roof.peak - 1) < 0.02; });
    if (same == roofs.end()) {
      roofs.push_back(roof);
      continue;
    }
    same->threads = std::max(same->threads, roof.threads);
    if (std::find(same->maths.begin(), same->maths.end(), roof.maths[0]) == same->maths.end())
      same->maths.push_back(roof.maths[0]);
  }
  for (Roof& roof : roofs) roof.bandwidth = bandwidth;
  std::sort(roofs.begin(), roofs.end(), [](const Roof& a, const Roof& b) { return a.peak < b.peak; });
  return roofs;
}

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
  std::vector<double> wanted; // places of the names, from the top
  for (auto roof = roofs.rbegin(); roof != roofs.rend(); ++roof) wanted.push_back(y.at(roof->peak) - 5);
  const std::vector<double> places = spread_out(wanted, 12, 20, y.at(y.low()) - 4);
  for (std::size_t i = 0; i < roofs.size(); ++i) {
    const Roof& roof = roofs[roofs.size() - 1 - i];
    std::vector<Point> points{{x.low(), roof.at(x.low())}};
    if (points.front().y < y.low()) points.front() = {y.low() / roof.bandwidth, y.low()};
    const double ridge = roof.bandwidth > 0 ? roof.peak / roof.bandwidth : 0;
    if (ridge > x.low() && ridge < x.high()) points.push_back({ridge, roof.peak});
    points.push_back({x.high(), roof.at(x.high())});
    plot.line(points, "roof", name_of(roof, roofs));
    plot.text({plot.size().width - plot.size().right, places[i]}, "roof-name", name_of(roof, roofs), "end");
  }
}

std::string panel(const RowGroup& group, const Run& run) {
  const std::vector<Roof> roofs = roofs_of(group.rows);
  std::vector<double> intensities, speeds;
  for (const Row* row : group.rows) {
    intensities.push_back(intensity(*row));
    speeds.push_back(row->gflops);
  }
  for (const Roof& roof : roofs) {
    speeds.push_back(1.4 * roof.peak);
    if (roof.bandwidth > 0) intensities.push_back(0.5 * roof.peak / roof.bandwidth);
  }
  const Axis x(Axis::Kind::Log, intensities, "operations per byte");
  Axis y(Axis::Kind::Log, speeds, "speed in FLOP/s");
  y.set_words(speed_tick);
  Plot plot(x, y, {}, "Roofline, " + group.name);
  draw(plot, roofs);
  for (const Row* row : group.rows)
    plot.mark({intensity(*row), row->gflops}, backend_class(row->backend), row->gflops, mark_title(*row, run),
              row->failing());
  // The best row at each intensity gets its name, once a kernel; others say theirs when pointed at.
  std::map<double, const Row*> best;
  for (const Row* row : group.rows) {
    const Row*& at = best[intensity(*row)];
    if (!row->failing() && (at == nullptr || row->gflops > at->gflops)) at = row;
  }
  std::set<std::string> named;
  for (auto at = best.rbegin(); at != best.rend(); ++at)
    if (at->second != nullptr && named.insert(at->second->kernel).second)
      plot.label({at->first, at->second->gflops}, fmt::format("name {}", backend_class(at->second->backend)),
                 run.label(*at->second));
  const std::string slope = !roofs.empty() && roofs.front().bandwidth > 0
                                ? fmt::format(" <small>memory {} GB/s</small>", number_text(roofs.front().bandwidth))
                                : "";
  return fmt::format("<figure><figcaption>{}{}</figcaption>{}</figure>\n", escaped(group.name), slope, plot.finish());
}

} // namespace

std::string roofline_section(const Run& run) {
  const auto keep = [](const Row& row) {
    return row.op == "gemm" && !row.transfer && row.gflops > 0 && row.m > 0 && row.n > 0 && row.k > 0;
  };
  std::string panels;
  for (const RowGroup& group : group_rows(run, keep, [&](const Row& row) {
         return (run.on_host(row.backend) ? "processor" : row.backend) + ", " + row.dtype;
       }))
    panels += panel(group, run);
  if (panels.empty()) return {};
  return "<section id=\"roofline\">\n<h2>Roofline</h2>\n<p class=\"lead\">Speed over operations per byte (each operand "
         "moved once), under what this machine was measured to reach: the slope is its memory's bandwidth, the flat "
         "part "
         "its multiply-add peak.</p>\n<div class=\"panels\">\n" +
         panels + "</div>\n</section>\n";
}

} // namespace tessera::report
