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
std::size_t figure_of(const Preset& preset, const Result& result) {
  const auto at = std::find_if(preset.published.begin(), preset.published.end(), [&](const Published& figure) {
    return backend_name(result) == figure.backend && apps::matches_glob(figure.kernels, result.kernel);
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
    const Result& first = group.front();
    if (!first.square()) return;
    if (!results_.empty() && first.n != preset_.size && first.n < results_.front().n) return;
    if (!results_.empty() && results_.front().n == preset_.size) return;
    results_.clear(); // shown are the published product, or the largest one where that was not run
    for (const Result& result : group)
      if (!result.samples.empty() && !result.transfer) results_.push_back(result);
  }

  void finish() override {
    const auto published = [&](const Result& result) { return figure_of(preset_, result) < preset_.published.size(); };
    if (std::none_of(results_.begin(), results_.end(), published)) return;
    const std::string title =
        fmt::format("Published ({}{}), and here (n = {}); gains are over the first published rung", preset_.machine,
                    preset_.size > 0 ? fmt::format(", n = {}", preset_.size) : "", results_.front().n);
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
    for (const Result& result : results_)
      if (base == 0 && figure_of(preset_, result) == 0) base = seconds_of(result, mean_);
    for (const Result& result : results_) {
      const std::size_t at = figure_of(preset_, result);
      const bool known = at < gains.size();
      const double seconds = seconds_of(result, mean_);
      backend.cells.emplace_back(backend_name(result));
      kernel.cells.push_back(detail::printable(result.kernel));
      published.cells.push_back(known ? text_of(preset_.published[at]) : "–");
      published_gain.cells.push_back(known ? gain_text(gains[at]) : "–");
      time.cells.push_back(report::time_text(seconds));
      speed.cells.push_back(std::isnan(result.gflops) ? "–" : fmt::format("{:.2f}", result.gflops));
      gain.cells.push_back(gain_text(seconds > 0 ? base / seconds : 0));
    }
    return {backend, kernel, published, published_gain, time, speed, gain};
  }

  const Preset& preset_;
  const bool mean_;
  const std::size_t width_; ///< 0: no limit
  std::vector<Result> results_;
};

} // namespace

std::unique_ptr<Reporter> published_reporter(const Options& options) {
  return std::make_unique<PublishedReporter>(options);
}

} // namespace tessera::compare_app
