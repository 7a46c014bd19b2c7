#pragma once

/// A chart with two axes, as an inline SVG. Sizes are in units of the SVG, which the page scales.

#include <string>
#include <string_view>
#include <vector>

namespace tessera::report {

/// Maps values to positions, and has the ticks.
class Axis {
 public:
  enum class Kind { Linear, Log };
  /// Covers all finite values (for Log only positive ones) with some room, and has ticks at round values.
  Axis(Kind kind, const std::vector<double>& values, std::string title);

  void place(double from, double to) { from_ = from, to_ = to; }
  /// Replaces the ticks by these values.
  void set_ticks(std::vector<double> values) { ticks_ = std::move(values); }
  /// Sets the function that makes a tick's text, which is the plain number by default.
  void set_words(std::string (*words)(double)) { words_ = words; }
  /// Gives the tick at this value, at the lowest end, another text: it stands for "exactly zero".
  void set_floor(double value, std::string label) { floor_ = value, floor_label_ = std::move(label); }

  double at(double value) const;
  bool shows(double value) const;
  double low() const { return low_; }
  double high() const { return high_; }
  const std::vector<double>& ticks() const { return ticks_; }
  std::string tick_label(double value) const;
  const std::string& title() const { return title_; }

 private:
  Kind kind_;
  double low_ = 1, high_ = 10;
  double from_ = 0, to_ = 1;
  std::string (*words_)(double) = nullptr;
  double floor_ = 0;
  std::string floor_label_;
  std::string title_;
  std::vector<double> ticks_;
};

struct Point {
  double x = 0, y = 0;
};

class Plot {
 public:
  struct Size {
    double width = 460, height = 340;
    double right = 16; ///< room for labels beside the plot
  };
  Plot(Axis x, Axis y, Size size, const std::string& description);

  const Axis& x() const { return x_; }
  const Axis& y() const { return y_; }
  Size size() const { return size_; }

  /// Draws a line through points that are given as values. The class is trusted, the title is escaped.
  void line(const std::vector<Point>& points, std::string_view css_class, std::string_view title);
  /// Draws the marker of the class, crossed out if `failing`.
  void mark(Point value, std::string_view css_class, double data, std::string_view title, bool failing);
  /// Writes text at a position, which is no value. Anchor: start, middle, end.
  void text(Point position, std::string_view css_class, std::string_view text, std::string_view anchor);
  /// Draws a line from a mark to its label, between positions.
  void leader(Point from, Point to, std::string_view css_class);
  /// Writes text beside a value where it covers no other text and no mark; writes nothing if there is no such place.
  void label(Point value, std::string_view css_class, std::string_view text);

  std::string finish();

 private:
  struct Box {
    double left, top, right, bottom;
  };
  void draw_frame();
  bool is_free(const Box& box) const;

  Axis x_, y_;
  Size size_;
  std::string svg_;
  std::string late_; ///< labels, which are drawn over everything else
  std::vector<Box> taken_;
  struct Label {
    Point value;
    std::string css_class, text;
  };
  std::vector<Label> labels_;
};

/// Ticks for an axis of seconds and one of GFLOP/s: "10 µs", "20 T".
std::string time_tick(double seconds);
std::string speed_tick(double gflops);

/// The least distance between two labels beside a plot, in the SVG's units.
inline constexpr double label_gap = 12.5;

/// Returns positions that are as close as possible to the wanted ones (ascending), at least `gap` apart, and within
/// [low, high] where there is room.
std::vector<double> spread_out(const std::vector<double>& wanted, double gap, double low, double high);

} // namespace tessera::report
