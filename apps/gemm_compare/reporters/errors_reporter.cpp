/// Prints for --errors how the distances of each entry's elements from the exact result are spread, and the worst ones.

#include <cmath>
#include <cstdio>

#include <fmt/format.h>

#include <tessera/detail/printable.hpp>

#include "common/terminal.hpp"
#include "reporter.hpp"

namespace tessera::compare_app {
namespace {

/// The distances that a bin holds: "0", "3–4", "2^20–2^21".
std::string range_text(std::size_t bin) {
  const auto number = [](double x, int exponent) {
    return exponent > 16 ? fmt::format("2^{}", exponent) : fmt::format("{:.0f}", x);
  };
  const double last = UlpHistogram::up_to(bin);
  const int exponent = static_cast<int>(bin) - 1;
  if (bin < 3) return fmt::format("{:.0f}", last);
  return number(last / 2 + 1, exponent - 1) + "–" + number(last, exponent);
}

void print_histogram(const UlpHistogram& ulps, std::size_t width) {
  const auto total = static_cast<double>(ulps.total());
  std::string line = "    ULPs";
  const auto add = [&](const std::string& range, Index count) {
    if (count > 0) line += fmt::format("   {}: {} ({:.3g} %)", range, count, 100 * static_cast<double>(count) / total);
  };
  for (std::size_t bin = 0; bin < UlpHistogram::bins; ++bin) add(range_text(bin), ulps.count(bin));
  add("∞", ulps.infinite());
  fmt::print("{}\n", apps::wrapped(line, width, 6));
}

void print_worst(const std::vector<WorstElement>& worst, std::size_t width) {
  for (const WorstElement& element : worst) {
    const std::string line =
        fmt::format("    C({}, {}) = {:.17g} instead of {:.17g}: off by {:.3g}, bound {:.3g}, error ÷ bound {:.3g}",
                    element.row, element.col, element.computed, element.exact,
                    std::abs(element.computed - element.exact), element.bound, element.over_bound);
    fmt::print("{}\n", apps::wrapped(line, width, 6));
  }
}

class ErrorsReporter final : public Reporter {
 public:
  explicit ErrorsReporter(const Options& options) : width_(table_width(options)) {}

  void add_group(const std::vector<Result>& group) override {
    for (const Result& result : group) {
      if (!result.error || result.operation != Operation::Gemm) continue;
      const GemmError& error = *result.error;
      fmt::print(
          "\n  {}\n",
          apps::styled(fmt::format("{} {}{}", detail::printable(backend_name(result)), detail::printable(result.kernel),
                                   result.threads > 0 ? fmt::format(", {} threads", result.threads) : ""),
                       apps::Style::Bold, apps::shows_colour(stdout)));
      const std::string norms = fmt::format(
          "    ‖Δ‖/‖C‖ = {:.3g}, max |Δ|/(|A||B|) = {:.3g} u, max |Δ|/(‖a‖‖b‖) = {:.3g} u, ‖Δ‖/(‖A‖‖B‖) = {:.3g} u",
          error.normwise, error.componentwise, error.row_column, error.norm_product);
      fmt::print("{}\n", apps::wrapped(norms, width_, 6));
      print_histogram(error.ulps, width_);
      if (const NonFinite expected = error.expected, found = error.found;
          expected.nan + expected.inf + found.nan + found.inf > 0)
        fmt::print("    NaN: {} instead of {}; Inf: {} instead of {}; {} misplaced\n", found.nan, expected.nan,
                   found.inf, expected.inf, error.misplaced);
      print_worst(error.worst, width_);
    }
    apps::flush_stdout();
  }

  void finish() override {}

 private:
  const std::size_t width_; ///< 0: no limit
};

} // namespace

std::unique_ptr<Reporter> errors_reporter(const Options& options) { return std::make_unique<ErrorsReporter>(options); }

} // namespace tessera::compare_app
