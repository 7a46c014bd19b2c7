#include "panels.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "plot.hpp"

namespace tessera::report {

std::string laid_out(const std::vector<Panel>& panels) {
  std::string html = "<div class=\"panels\">\n";
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const Panel& panel = panels[i];
    const bool whole_page = i + 1 == panels.size() && panels.size() % 2 == 1;
    html += fmt::format("<figure{}><figcaption>{}</figcaption>", whole_page ? " class=\"whole\"" : "", panel.caption);
    const std::string chart = panel.chart(panel_width);
    html += whole_page ? fmt::format("<div class=\"on-wide\">{}</div><div class=\"on-narrow\">{}</div>",
                                     panel.chart(page_width), chart)
                       : chart;
    html += panel.below + "</figure>\n";
  }
  return html + "</div>\n";
}

double chart_height(double width, std::size_t labels) {
  const double least = width < page_width ? 340 : 420;
  return std::max(least, label_gap * static_cast<double>(labels) + 60);
}

} // namespace tessera::report
