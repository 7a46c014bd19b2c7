/// Prints tables over the sizes, for the presets that are experiments about sizes. For the course report these are each
/// rung's speed-up over gold and Σ|c_gold − c|; for the pitch of rows each rung's speed and how far it jumps.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include <fmt/format.h>

#include <tessera/detail/printable.hpp>

#include "common/terminal.hpp"
#include "reporter.hpp"
#include "table_layout.hpp"

namespace tessera::compare_app {
namespace {

class SummaryReporter final : public Reporter {
 public:
  explicit SummaryReporter(const Options& options) : mean_(options.mean), width_(table_width(options)) {}

  void add_group(const std::vector<Result>& group) override {
    for (const Result& result : group) {
      if (result.transfer) continue;
      const std::string kernel =
          detail::printable(fmt::format("{} {}{}", backend_name(result), result.kernel,
                                        result.threads > 1 ? fmt::format(" ({} threads)", result.threads) : ""));
      if (results_.find(kernel) == results_.end()) order_.push_back(kernel);
      const std::string size = fmt::format("{}×{}×{}", result.m, result.n, result.k);
      if (sizes_.empty() || sizes_.back() != size) sizes_.push_back(size);
      results_[kernel][size] = result;
    }
  }

  void finish() override {
    if (!mean_) {
      print_jumps();
      return;
    }
    print("Speed-up of the mean time over the first rung", [](const Result& result) {
      return std::isnan(result.speedup) ? std::string(to_string(result.verdict))
                                        : fmt::format("{:.2f}", result.speedup);
    });
    print("Σ|c_gold − c|", [](const Result& result) {
      if (!result.error) return std::string(to_string(result.verdict));
      return result.error->total_abs == 0 ? std::string("0") : fmt::format("{:.3e}", result.error->total_abs);
    });
  }

 private:
  /// Prints the speeds, and the fastest size's over the slowest size's where they are known.
  void print_jumps() const {
    TextColumn jumps{{"fastest / slowest"}, true, 0, 0};
    for (const std::string& kernel : order_) {
      std::vector<double> speeds;
      for (const auto& [size, result] : results_.at(kernel))
        if (result.gflops > 0) speeds.push_back(result.gflops);
      const auto [low, high] = std::minmax_element(speeds.begin(), speeds.end());
      jumps.cells.push_back(speeds.size() < 2 ? "–" : fmt::format("{:.2f}", *high / *low));
    }
    print(
        "GFLOP/s over the sizes, and how far the fastest size is ahead of the slowest",
        [](const Result& result) {
          return result.gflops > 0 ? fmt::format("{:.2f}", result.gflops) : std::string(to_string(result.verdict));
        },
        &jumps);
  }

  /// Prints a table of the sizes, with a last column if one is given, in several parts if one is too wide for the
  /// terminal.
  template <class Cell>
  void print(const char* title, const Cell& cell, const TextColumn* last = nullptr) const {
    fmt::print("\n{}\n", apps::styled(title, apps::Style::Bold, apps::shows_colour(stdout)));
    TextColumn names{{""}, false, 0, 0};
    for (const std::string& kernel : order_) names.cells.push_back(kernel);
    std::vector<TextColumn> part{names};
    for (const std::string& size : sizes_) {
      TextColumn column{{size}, true, 0, 0};
      for (const std::string& kernel : order_) {
        const auto at = results_.at(kernel).find(size);
        column.cells.push_back(at == results_.at(kernel).end() ? "–" : cell(at->second));
      }
      append(part, names, std::move(column));
    }
    if (last != nullptr) append(part, names, *last);
    print_lines(part);
    apps::flush_stdout();
  }

  /// Adds a column, or begins another part with it where it does not fit.
  void append(std::vector<TextColumn>& part, const TextColumn& names, TextColumn column) const {
    if (part.size() > 1 && width_ > 0 && width_of(part) + column_gap + column.width() > width_) {
      print_lines(part);
      part = {names};
    }
    part.push_back(std::move(column));
  }

  static void print_lines(const std::vector<TextColumn>& part) {
    for (const std::string& line : lines_of(part)) fmt::print("{}\n", line);
  }

  const bool mean_;
  const std::size_t width_; ///< 0: no limit
  std::vector<std::string> order_, sizes_;
  std::map<std::string, std::map<std::string, Result>> results_;
};

} // namespace

std::unique_ptr<Reporter> summary_reporter(const Options& options) {
  return std::make_unique<SummaryReporter>(options);
}

} // namespace tessera::compare_app
