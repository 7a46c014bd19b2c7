/// Prints for --preset what the experiment is, and what its source published beside what was measured here.

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <fmt/format.h>

#include <tessera/detail/printable.hpp>

#include "common/terminal.hpp"
#include "common/words.hpp"
#include "report/format.hpp"
#include "reporter.hpp"
#include "table_layout.hpp"

namespace tessera::compare_app {
namespace {

/// Returns the position of the figure of an entry's rung, or the number of figures.
std::size_t figure_of(const Preset& preset, const Result& entry) {
  const auto at = std::find_if(preset.published.begin(), preset.published.end(), [&](const Published& figure) {
    return backend_name(entry) == figure.backend && apps::matches_glob(figure.kernels, entry.kernel);
  });
  return static_cast<std::size_t>(at - preset.published.begin());
}

std::string gain_text(double gain) { return gain > 0 ? fmt::format("{:.2f}", gain) : "–"; }

class PublishedReporter final : public Reporter {
 public:
  explicit PublishedReporter(const Options& options)
      : preset_(*options.preset), mean_(options.mean), width_(table_width(options)) {
    const std::string title = fmt::format("Preset {}: {}", preset_.name, preset_.source);
    fmt::print("{}\n", apps::wrapped(title, width_, 2));
    apps::flush_stdout();
  }

  void add_group(const std::vector<Result>& group) override {
    if (preset_.published.empty() || group.empty()) return;
    const GemmShape& shape = group.front().shape;
    if (shape.m != shape.n || shape.n != shape.k) return;
    if (!entries_.empty() && shape.n != preset_.size && shape.n < entries_.front().shape.n) return;
    if (!entries_.empty() && entries_.front().shape.n == preset_.size) return;
    entries_.clear(); // shown are the published product, or the largest one where that was not run
    for (const Result& result : group)
      if (!result.samples.empty() && !result.transfer) entries_.push_back(result);
  }

  void finish() override {
    const auto published = [&](const Result& entry) { return figure_of(preset_, entry) < preset_.published.size(); };
    if (std::none_of(entries_.begin(), entries_.end(), published)) return;
    const std::string title =
        fmt::format("Published ({}{}), and here (n = {}); gains are over the first published rung", preset_.machine,
                    preset_.size > 0 ? fmt::format(", n = {}", preset_.size) : "", entries_.front().shape.n);
    fmt::print("\n{}\n", apps::styled(apps::wrapped(title, width_, 2), apps::Style::Bold, apps::shows_colour(stdout)));
    const std::vector<TextColumn> columns = text_columns();
    std::vector<TextColumn> shown;
    for (const std::size_t c : fitting(columns, width_)) shown.push_back(columns[c]);
    for (const std::string& line : lines_of(shown)) fmt::print("{}\n", line);
    apps::flush_stdout();
  }

 private:
  std::vector<TextColumn> text_columns() const {
    TextColumn backend{{"backend"}, false, 1}, kernel{{"kernel"}, false, 0}, published{{"published"}, true, 0},
        published_gain{{"gain"}, true, 0}, time{{"here"}, true, 0}, speed{{"GFLOP/s"}, true, 2},
        gain{{"gain"}, true, 0};
    const std::vector<double> gains = gains_of(preset_);
    double base = 0; // seconds of the entry of the first figure
    for (const Result& entry : entries_)
      if (base == 0 && figure_of(preset_, entry) == 0) base = seconds_of(entry, mean_);
    for (const Result& entry : entries_) {
      const std::size_t at = figure_of(preset_, entry);
      const bool known = at < gains.size();
      const double seconds = seconds_of(entry, mean_);
      backend.cells.emplace_back(backend_name(entry));
      kernel.cells.push_back(detail::printable(entry.kernel));
      published.cells.push_back(known ? text_of(preset_.published[at]) : "–");
      published_gain.cells.push_back(known ? gain_text(gains[at]) : "–");
      time.cells.push_back(report::time_text(seconds));
      speed.cells.push_back(std::isnan(entry.gflops) ? "–" : fmt::format("{:.2f}", entry.gflops));
      gain.cells.push_back(gain_text(seconds > 0 ? base / seconds : 0));
    }
    return {backend, kernel, published, published_gain, time, speed, gain};
  }

  const Preset& preset_;
  const bool mean_;
  const std::size_t width_; ///< 0: no limit
  std::vector<Result> entries_;
};

} // namespace

std::unique_ptr<Reporter> published_reporter(const Options& options) {
  return std::make_unique<PublishedReporter>(options);
}

} // namespace tessera::compare_app
