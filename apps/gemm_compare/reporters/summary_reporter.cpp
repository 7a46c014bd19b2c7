/// Prints what the course report printed: each rung's speed-up over gold and Σ|c_gold − c|, over the sizes.

#include <cmath>
#include <cstdio>
#include <map>

#include <fmt/format.h>

#include <tessera/detail/printable.hpp>

#include "common/terminal.hpp"
#include "reporter.hpp"

namespace tessera::compare_app {
namespace {

class SummaryReporter final : public Reporter {
 public:
  void add_group(const std::vector<Result>& group) override {
    for (const Result& result : group) {
      if (result.transfer) continue;
      const std::string kernel =
          detail::printable(fmt::format("{} {}{}", backend_name(result), result.kernel,
                                        result.threads > 1 ? fmt::format(" ({} threads)", result.threads) : ""));
      if (rows_.find(kernel) == rows_.end()) order_.push_back(kernel);
      const std::string size = fmt::format("{}×{}×{}", result.shape.m, result.shape.n, result.shape.k);
      if (sizes_.empty() || sizes_.back() != size) sizes_.push_back(size);
      rows_[kernel][size] = result;
    }
  }

  void finish() override {
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
  template <class Cell>
  void print(const char* title, const Cell& cell) const {
    constexpr std::size_t width = 16;
    std::size_t names = 0;
    for (const std::string& kernel : order_) names = std::max(names, apps::display_width(kernel));
    fmt::print("\n{}\n{}", apps::styled(title, apps::Style::Bold, apps::shows_colour(stdout)), std::string(names, ' '));
    for (const std::string& size : sizes_) fmt::print("{}", apps::pad_left(size, width));
    fmt::print("\n");
    for (const std::string& kernel : order_) {
      fmt::print("{}", apps::pad_right(kernel, names));
      for (const std::string& size : sizes_) {
        const auto at = rows_.at(kernel).find(size);
        fmt::print("{}", apps::pad_left(at == rows_.at(kernel).end() ? "–" : cell(at->second), width));
      }
      fmt::print("\n");
    }
    apps::flush_stdout();
  }

  std::vector<std::string> order_, sizes_;
  std::map<std::string, std::map<std::string, Result>> rows_;
};

} // namespace

std::unique_ptr<Reporter> summary_reporter() { return std::make_unique<SummaryReporter>(); }

} // namespace tessera::compare_app
