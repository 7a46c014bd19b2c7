#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "charts.hpp"
#include "panels.hpp"
#include "plot.hpp"
#include "report/format.hpp"
#include "report/grouping.hpp"
#include "report/html.hpp"

namespace tessera::report {
namespace {

/// Seconds over sizes.
using Curve = std::map<double, double>;

void keep_least(Curve& curve, double size, double time) {
  const auto [at, added] = curve.emplace(size, time);
  if (!added) at->second = std::min(at->second, time);
}

struct Curves {
  Curve host;     ///< the best kernel on the processor
  Curve device;   ///< the best kernel on the device, with operands that are there already
  Curve transfer; ///< copies of the operands in and of the result out; empty where they were not measured
  Curve there_and_back() const {
    Curve sum;
    for (const auto& [size, time] : device)
      if (const auto at = transfer.find(size); at != transfer.end()) sum[size] = time + at->second;
    return sum;
  }
};

/// The size at which the first curve crosses below the second, on straight lines between the logarithms of the points;
/// nothing if it does not cross.
struct Crossing {
  double size = 0;
  bool always = false; ///< below from the smallest common size on
};
std::optional<Crossing> crossing(const Curve& below, const Curve& above) {
  std::optional<std::pair<double, double>> previous; // log size, log ratio
  for (const auto& [size, time] : below) {
    const auto at = above.find(size);
    if (at == above.end()) continue;
    const std::pair here{std::log(size), std::log(time / at->second)};
    if (here.second < 0 && !previous) return Crossing{size, true};
    if (here.second < 0 && previous->second >= 0) {
      const double share = previous->second / (previous->second - here.second);
      return Crossing{std::exp(previous->first + share * (here.first - previous->first)), false};
    }
    previous = here;
  }
  return std::nullopt;
}

std::string sentence(const std::string& what, const Curve& device, const Curve& host) {
  const auto at = crossing(device, host);
  if (!at) return fmt::format("<li>{}: the processor is faster at every size measured.</li>", what);
  if (at->always)
    return fmt::format("<li>{}: the device is faster from the smallest size measured, n = {:.0f}.</li>", what,
                       at->size);
  return fmt::format("<li>{}: the device is faster from <b>n ≈ {}</b>.</li>", what, count_text(std::round(at->size)));
}

void draw(Plot& plot, const Curve& curve, std::string_view css, const std::string& name) {
  if (curve.empty()) return;
  std::vector<Point> points;
  for (const auto& [size, time] : curve) points.push_back({size, time});
  plot.line(points, css, name);
  for (const Point& point : points)
    plot.mark(point, css, point.y, fmt::format("{}, n = {:.0f}: {}", name, point.x, time_text(point.y)), false);
}

std::string offload_chart(const std::string& name, const Curves& curves, double width) {
  const Curve both = curves.there_and_back();
  std::vector<double> sizes, times;
  for (const Curve* curve : {&curves.host, &curves.device, &both})
    for (const auto& [size, time] : *curve) {
      sizes.push_back(size);
      times.push_back(time);
    }
  Axis x(Axis::Kind::Log, sizes, "m = n = k");
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  if (sizes.size() <= 8) x.set_ticks(sizes);
  Axis y(Axis::Kind::Log, times, "median time");
  y.set_words(time_tick);
  Plot plot(x, y, {width, chart_height(width, 0), 130}, "Offload threshold, " + name);
  struct Named {
    const Curve* curve;
    std::string css, name;
  };
  std::vector<Named> named{{&curves.host, "b-openmp best", "best on processor"},
                           {&both, "b-cuda dashed", "device + transfers"},
                           {&curves.device, "b-cuda best", "device"}};
  std::erase_if(named, [](const Named& one) { return one.curve->empty(); });
  const auto end = [&](const Named& one) { return plot.y().at(one.curve->rbegin()->second); };
  std::sort(named.begin(), named.end(), [&](const Named& a, const Named& b) { return end(a) < end(b); });
  std::vector<double> wanted;
  wanted.reserve(named.size());
  for (const Named& one : named) wanted.push_back(end(one));
  const std::vector<double> places = spread_out(wanted, 13, 20, plot.size().height - 20);
  for (std::size_t i = 0; i < named.size(); ++i) {
    draw(plot, *named[i].curve, named[i].css, named[i].name);
    plot.text({plot.size().width - plot.size().right + 6, places[i] + 4}, "name " + named[i].css, named[i].name,
              "start");
  }
  return plot.finish();
}

std::string offload_words(const Curves& curves) {
  std::string html = "<ul>" + sentence("Operands on the device already", curves.device, curves.host);
  if (const Curve both = curves.there_and_back(); !both.empty())
    html += sentence("With the transfers in and out", both, curves.host);
  return html + "</ul>";
}

} // namespace

std::string offload_section(const Run& run) {
  std::map<std::string, Curves> by_name; // type and device
  const auto usable = [](const Entry& entry) {
    return entry.op == "gemm" && entry.timed() && !entry.failing() && entry.square() && entry.n > 0;
  };
  for (const Entry& entry : run.entries) {
    if (!usable(entry) || run.place(entry) == "processor") continue;
    Curves& curves = by_name[entry.dtype + ", " + run.place(entry)];
    if (entry.transfer)
      curves.transfer[static_cast<double>(entry.n)] += entry.median;
    else if (entry.math == "strict")
      keep_least(curves.device, static_cast<double>(entry.n), entry.median);
  }
  std::vector<Panel> panels;
  for (auto& [name, curves] : by_name) {
    const std::string dtype = name.substr(0, name.find(','));
    for (const Entry& entry : run.entries)
      if (usable(entry) && run.place(entry) == "processor" && entry.dtype == dtype && entry.math == "strict")
        keep_least(curves.host, static_cast<double>(entry.n), entry.median);
    if (!curves.host.empty() && !curves.device.empty())
      panels.push_back({escaped(name),
                        [&name = name, &curves = curves](double width) { return offload_chart(name, curves, width); },
                        offload_words(curves)});
  }
  if (panels.empty()) return {};
  return "<section id=\"offload\">\n<h2>When the device pays</h2>\n<p class=\"lead\">The best strict kernel of the "
         "processor against the best of the device, on square products.</p>\n" +
         laid_out(panels) + "</section>\n";
}

} // namespace tessera::report
