#pragma once

/// Lays out the charts of a section: two in a row, and the last one of an odd number as wide as the page.

#include <functional>
#include <string>
#include <vector>

namespace tessera::report {

/// The widths at which a chart is drawn, in units of its SVG. A unit is about a pixel, so that text has the same size
/// in all of them.
inline constexpr double panel_width = 460, page_width = 1080;

/// A chart with its caption.
struct Panel {
  std::string caption;                            ///< HTML
  std::function<std::string(double width)> chart; ///< returns the SVG, which is at least as wide as asked for
  std::string below;                              ///< HTML
};

/// Returns the panels as HTML. A chart that takes the whole page is drawn twice: for a wide screen and, as other
/// panels, for a narrow one, on which the wide drawing's text would be too small. CSS shows one of the two.
std::string laid_out(const std::vector<Panel>& panels);

/// Returns a chart's height for its width and for the number of lines of text beside it.
double chart_height(double width, std::size_t labels);

} // namespace tessera::report
