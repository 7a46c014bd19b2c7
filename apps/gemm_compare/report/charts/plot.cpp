#include "plot.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "report/format.hpp"
#include "report/html.hpp"

namespace tessera::report {
namespace {

/// No number of a run is larger; a document may have one for which the ends of an axis would overflow.
constexpr double largest_shown = 1e100;

constexpr double left_margin = 50;
constexpr double top_margin = 26;
constexpr double bottom_margin = 40;

std::vector<double> log_ticks(double low, double high) {
  const int first = static_cast<int>(std::floor(std::log10(low)));
  const int last = static_cast<int>(std::ceil(std::log10(high)));
  const double decades = std::log10(high / low);
  std::vector<double> ticks;
  const int step = std::max(1, static_cast<int>(std::ceil(decades / 7)));
  for (int e = first; e <= last; ++e) {
    if (decades > 2.5 && (e - first) % step != 0) continue;
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double tick = factor * std::pow(10.0, e);
      if ((factor == 1 || decades <= 2.5) && tick >= low * 0.999 && tick <= high * 1.001) ticks.push_back(tick);
    }
  }
  return ticks;
}

std::vector<double> linear_ticks(double low, double high) {
  const double rough = (high - low) / 5;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double factor : {5.0, 2.0, 1.0})
    if (factor * power >= rough) step = factor * power;
  std::vector<double> ticks;
  for (double tick = std::ceil(low / step) * step; tick <= high + 1e-9 * step; tick += step) ticks.push_back(tick);
  return ticks;
}

/// The approximate width of sans-serif text of 11 units.
double text_width(std::string_view text) {
  const auto code_points = std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; });
  return 6.1 * static_cast<double>(code_points);
}

/// The path of each backend's marker, within ±5 of the origin. Backends differ in shape as well as in colour.
std::string_view marker(std::string_view css_class) {
  if (css_class.find("b-reference") != std::string_view::npos) return "M-4-4H4V4H-4Z";
  if (css_class.find("b-openmp") != std::string_view::npos) return "M-4.4 0a4.4 4.4 0 1 0 8.8 0a4.4 4.4 0 1 0-8.8 0Z";
  if (css_class.find("b-tbb") != std::string_view::npos) return "M0-4.6L5 4.6H-5Z";
  if (css_class.find("b-cuda") != std::string_view::npos) return "M0-5.5L5.5 0L0 5.5L-5.5 0Z";
  return "M-5-1.7H-1.7V-5H1.7V-1.7H5V1.7H1.7V5H-1.7V1.7H-5Z";
}

} // namespace

Axis::Axis(Kind kind, const std::vector<double>& values, std::string title) : kind_(kind), title_(std::move(title)) {
  bool any = false;
  for (const double value : values) {
    if (!(std::abs(value) <= largest_shown) || (kind == Kind::Log && value < 1 / largest_shown)) continue;
    low_ = any ? std::min(low_, value) : value;
    high_ = any ? std::max(high_, value) : value;
    any = true;
  }
  if (kind == Kind::Log) {
    if (low_ == high_) low_ /= 2, high_ *= 2;
    const double room = std::pow(high_ / low_, 0.06);
    low_ /= room;
    high_ *= room;
    ticks_ = log_ticks(low_, high_);
  } else {
    low_ = std::min(low_, 0.0);
    if (low_ == high_) high_ = low_ + 1;
    high_ += 0.04 * (high_ - low_);
    ticks_ = linear_ticks(low_, high_);
  }
}

double Axis::at(double value) const {
  const double share =
      kind_ == Kind::Log ? std::log(value / low_) / std::log(high_ / low_) : (value - low_) / (high_ - low_);
  return from_ + share * (to_ - from_);
}

bool Axis::shows(double value) const { return value >= low_ && value <= high_; }

std::string Axis::tick_label(double value) const {
  if (value == floor_ && !floor_label_.empty()) return floor_label_;
  if (words_ != nullptr) return words_(value);
  if (value >= 1e6 || (value > 0 && value < 1e-2)) {
    const double exponent = std::floor(std::log10(value) + 1e-9);
    const double digit = value / std::pow(10.0, exponent);
    return digit < 1.5 ? fmt::format("1e{:.0f}", exponent) : fmt::format("{:.0f}e{:.0f}", digit, exponent);
  }
  return fmt::format("{}", std::round(value * 1e4) / 1e4);
}

Plot::Plot(Axis x, Axis y, Size size, const std::string& description)
    : x_(std::move(x)), y_(std::move(y)), size_(size) {
  x_.place(left_margin, size.width - size.right);
  y_.place(size.height - bottom_margin, top_margin);
  svg_ = fmt::format("<svg class=\"plot\" viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"{}\">", size.width,
                     size.height, escaped(description));
  draw_frame();
}

void Plot::draw_frame() {
  const double left = left_margin, right = size_.width - size_.right;
  const double top = top_margin, bottom = size_.height - bottom_margin;
  std::string grid;
  double previous = -100;
  for (const double tick : x_.ticks()) {
    const double at = x_.at(tick);
    grid += fmt::format("M{:.1f} {:.0f}V{:.0f}", at, top, bottom);
    const std::string label = x_.tick_label(tick);
    if (at - previous < text_width(label) + 5) continue; // labels that would touch
    svg_ += fmt::format("<text class=\"tick\" x=\"{:.1f}\" y=\"{:.0f}\" text-anchor=\"middle\">{}</text>", at,
                        bottom + 15, label);
    previous = at;
  }
  for (const double tick : y_.ticks()) {
    const double at = y_.at(tick);
    grid += fmt::format("M{:.0f} {:.1f}H{:.0f}", left, at, right);
    svg_ += fmt::format("<text class=\"tick\" x=\"{:.0f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>", left - 6,
                        at + 4, y_.tick_label(tick));
  }
  svg_ += fmt::format("<path class=\"grid\" d=\"{}\"/>", grid);
  svg_ += fmt::format("<text class=\"axis\" x=\"4\" y=\"12\">{}</text>", escaped(y_.title()));
  svg_ += fmt::format("<text class=\"axis\" x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"middle\">{}</text>",
                      (left + right) / 2, size_.height - 5, escaped(x_.title()));
}

void Plot::line(const std::vector<Point>& points, std::string_view css_class, std::string_view title) {
  std::string path;
  for (const Point& point : points)
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? 'M' : 'L', x_.at(point.x), y_.at(point.y));
  svg_ += fmt::format("<path class=\"line {}\" d=\"{}\"><title>{}</title></path>", css_class, path, escaped(title));
}

void Plot::mark(Point value, std::string_view css_class, double data, std::string_view title, bool failing) {
  const double x = x_.at(value.x), y = y_.at(value.y);
  svg_ += fmt::format(
      "<path class=\"mark {}{}\" data-v=\"{:.6g}\" transform=\"translate({:.1f} {:.1f})\" d=\"{}\">"
      "<title>{}</title></path>",
      css_class, failing ? " failing" : "", data, x, y, failing ? "M-5-5L5 5M-5 5L5-5" : marker(css_class),
      escaped(title));
  taken_.push_back({x - 5, y - 5, x + 5, y + 5});
}

void Plot::text(Point position, std::string_view css_class, std::string_view text, std::string_view anchor) {
  late_ += fmt::format("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>", css_class,
                       position.x, position.y, anchor, escaped(text));
  const double width = text_width(text);
  const double left = anchor == "end" ? position.x - width : anchor == "middle" ? position.x - width / 2 : position.x;
  taken_.push_back({left, position.y - 10, left + width, position.y + 3});
}

void Plot::leader(Point from, Point to, std::string_view css_class) {
  svg_ += fmt::format("<path class=\"leader {}\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\"/>", css_class, from.x, from.y, to.x,
                      to.y);
}

void Plot::label(Point value, std::string_view css_class, std::string_view text) {
  labels_.push_back({value, std::string(css_class), std::string(text)});
}

bool Plot::is_free(const Box& box) const {
  if (box.left < left_margin || box.right > size_.width || box.top < top_margin - 8 ||
      box.bottom > size_.height - bottom_margin)
    return false;
  return std::none_of(taken_.begin(), taken_.end(), [&](const Box& other) {
    return box.left < other.right && other.left < box.right && box.top < other.bottom && other.top < box.bottom;
  });
}

std::string Plot::finish() {
  for (const Label& label : labels_) {
    const double x = x_.at(label.value.x), y = y_.at(label.value.y), width = text_width(label.text);
    const std::array places{Point{x + 8, y + 4},          Point{x - 8 - width, y + 4}, Point{x - width / 2, y - 9},
                            Point{x - width / 2, y + 17}, Point{x + 6, y - 7},         Point{x + 6, y + 14},
                            Point{x - 6 - width, y - 7},  Point{x - 6 - width, y + 14}};
    for (const Point& place : places) {
      if (!is_free({place.x, place.y - 10, place.x + width, place.y + 2})) continue;
      text(place, label.css_class, label.text, "start");
      break;
    }
  }
  return svg_ + late_ + "</svg>";
}

std::string time_tick(double seconds) {
  for (const auto& [size, unit] : {std::pair{1.0, "s"}, std::pair{1e-3, "ms"}, std::pair{1e-6, "µs"}})
    if (seconds >= 0.999 * size) return fmt::format("{:.3g} {}", seconds / size, unit);
  return fmt::format("{:.3g} ns", seconds / 1e-9);
}

std::string speed_tick(double gflops) {
  for (const auto& [size, unit] : {std::pair{1e6, "P"}, std::pair{1e3, "T"}, std::pair{1.0, "G"}, std::pair{1e-3, "M"}})
    if (gflops >= 0.999 * size) return fmt::format("{:.3g} {}", gflops / size, unit);
  return fmt::format("{:.3g} k", gflops / 1e-6);
}

std::vector<double> spread_out(const std::vector<double>& wanted, double gap, double low, double high) {
  // Neighbours that would touch become a block around the mean of the places that they want; blocks that touch merge.
  struct Block {
    double middle_sum; ///< sum of the first places that the members imply
    std::size_t count;
    double first(double least, double most, double step) const {
      const double mean = middle_sum / static_cast<double>(count);
      return std::max(least, std::min(mean, most - step * static_cast<double>(count - 1)));
    }
  };
  std::vector<Block> blocks;
  for (const double place : wanted) {
    blocks.push_back({place, 1});
    while (blocks.size() > 1) {
      const Block& last = blocks.back();
      Block& before = blocks[blocks.size() - 2];
      const double shift = gap * static_cast<double>(before.count);
      if (before.first(low, high, gap) + shift <= last.first(low, high, gap)) break;
      before.middle_sum += last.middle_sum - shift * static_cast<double>(last.count);
      before.count += last.count;
      blocks.pop_back();
    }
  }
  std::vector<double> places;
  for (const Block& block : blocks)
    for (std::size_t i = 0; i < block.count; ++i)
      places.push_back(block.first(low, high, gap) + gap * static_cast<double>(i));
  return places;
}

} // namespace tessera::report
