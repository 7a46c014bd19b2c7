/// The table on the terminal: one for each shape and type.

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <fmt/format.h>

#include "common/machine.hpp"
#include "common/terminal.hpp"
#include "report/reproduce.hpp"
#include "reporter.hpp"

namespace tessera::compare_app {
namespace {

using apps::Style;

const std::string none = "–";

std::string time_text(double seconds) {
  if (std::isnan(seconds)) return none;
  if (seconds < 1e-3) return fmt::format("{:.1f} µs", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.2f} ms", seconds * 1e3);
  return fmt::format("{:.2f} s", seconds);
}

/// Half the distance from the fastest to the slowest run, relative to the median.
std::string spread_text(const Result& result) {
  if (result.samples.size() < 2) return result.samples.empty() ? none : "once";
  const TimeSummary time = summarize(result.samples);
  return fmt::format("±{:.0f} %", 50 * (time.max - time.min) / time.median);
}

std::string number(double value, const char* format) {
  return std::isnan(value) ? none : fmt::format(fmt::runtime(format), value);
}

std::string error_text(double value) { return value == 0 ? "0" : fmt::format("{:.2e}", value); }

/// Of the unit roundoff.
std::string units_text(double value) {
  return value < 1e6 ? fmt::format("{:.2f}", value) : fmt::format("{:.2e}", value);
}

struct Column {
  std::string title;
  bool left = false; ///< aligned to the left
};

std::vector<Column> columns(const Options& options) {
  return {{"backend", true}, {"kernel", true}, {"math", true}, {"thr"},    {options.mean ? "mean" : "median"},
          {"spread"},        {"device"},       {"GFLOP/s"},    {"% peak"}, {"speed-up"},
          {"Σ|Δ|"},          {"max rel"},      {"mean rel"},   {"max u"},  {"max/bound"},
          {"differ"},        {"verdict", true}};
}

std::vector<std::string> cells(const Result& result, const Options& options) {
  const TimeSummary time = summarize(result.samples);
  std::vector<std::string> row{std::string(backend_name(result)),
                               result.kernel,
                               std::string(to_string(result.math)),
                               result.threads > 0 ? std::to_string(result.threads) : none,
                               time_text(options.mean ? time.mean : time.median),
                               spread_text(result),
                               result.device_seconds > 0 ? time_text(result.device_seconds) : none,
                               number(result.gflops, "{:.2f}"),
                               number(result.ceiling_percent, "{:.1f}"),
                               number(result.speedup, "{:.2f}")};
  if (result.error) {
    const GemmError& error = *result.error;
    for (const double value : {error.total_abs, error.max_rel, error.mean_rel}) row.push_back(error_text(value));
    row.push_back(result.operation == Operation::Gemm ? units_text(error.componentwise) : none);
    row.push_back(error_text(error.max_over_bound));
    row.push_back(std::to_string(error.differing_bits));
  } else {
    row.insert(row.end(), 6, none);
  }
  row.emplace_back(to_string(result.verdict));
  return row;
}

/// A column that says nothing, or the usual thing in every row, is left out.
bool is_empty(const std::vector<std::vector<std::string>>& rows, std::size_t column) {
  return std::all_of(rows.begin(), rows.end(),
                     [&](const auto& row) { return row[column] == none || row[column] == to_string(Math::Strict); });
}

Style style_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::Pass:
      return Style::Green;
    case Verdict::Wrong:
    case Verdict::Failed:
      return Style::Red;
    case Verdict::Rejected:
    case Verdict::Skipped:
    case Verdict::Interrupted:
      return Style::Yellow;
    case Verdict::Pending:
    case Verdict::Timed:
      break;
  }
  return Style::Plain;
}

std::string heading(const Result& first) {
  if (first.operation == Operation::SumOfSquares)
    return fmt::format("Σx², length {}, {}", first.shape.n, to_string(first.type));
  std::string text =
      fmt::format("m = {}, n = {}, k = {}, {}", first.shape.m, first.shape.n, first.shape.k, to_string(first.type));
  if (first.result != first.type) text += fmt::format(", C in {}", to_string(first.result));
  if (first.op_a == Op::Transpose) text += ", A transposed";
  if (first.op_b == Op::Transpose) text += ", B transposed";
  if (first.alpha != 1) text += fmt::format(", alpha = {}", first.alpha);
  if (first.beta != 0) text += fmt::format(", beta = {}", first.beta);
  return text;
}

class TableReporter final : public Reporter {
 public:
  explicit TableReporter(const Options& options) : options_(options), colour_(apps::shows_colour(stdout)) {}

  void add_group(const std::vector<Result>& group) override {
    if (group.empty()) return;
    std::vector<Column> titles = columns(options_);
    std::vector<std::vector<std::string>> rows;
    rows.reserve(group.size());
    for (const Result& result : group) rows.push_back(cells(result, options_));
    for (std::size_t c = titles.size(); c-- > 0;) {
      if (!is_empty(rows, c)) continue;
      titles.erase(titles.begin() + static_cast<std::ptrdiff_t>(c));
      for (auto& row : rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(c));
    }
    std::vector<std::size_t> widths;
    for (std::size_t c = 0; c < titles.size(); ++c) {
      std::size_t width = apps::display_width(titles[c].title);
      for (const auto& row : rows) width = std::max(width, apps::display_width(row[c]));
      widths.push_back(width);
    }
    fmt::print("\n{}\n", apps::styled(heading(group.front()), Style::Bold, colour_));
    std::string line;
    for (std::size_t c = 0; c < titles.size(); ++c) line += aligned(titles[c].title, widths[c], titles[c].left);
    fmt::print("{}\n", apps::styled(line, Style::Dim, colour_));
    for (std::size_t r = 0; r < rows.size(); ++r) print_row(rows[r], widths, titles, group[r]);
    print_commands(group);
    std::fflush(stdout);
  }

  void finish() override {}

 private:
  static std::string aligned(const std::string& text, std::size_t width, bool left) {
    return (left ? apps::pad_right(text, width) : apps::pad_left(text, width)) + "  ";
  }

  void print_row(const std::vector<std::string>& row, const std::vector<std::size_t>& widths,
                 const std::vector<Column>& titles, const Result& result) const {
    std::string line;
    for (std::size_t c = 0; c + 1 < row.size(); ++c) line += aligned(row[c], widths[c], titles[c].left);
    line += apps::styled(row.back(), style_of(result.verdict), colour_);
    if (!result.reason.empty()) line += ": " + result.reason;
    fmt::print("{}\n", line);
  }

  /// Of each failing row, the command that shows it again.
  void print_commands(const std::vector<Result>& group) const {
    nlohmann::ordered_json document{{"schema", report::schema},
                                    {"inputs", inputs_json(options_)},
                                    {"machine", {{"threads", apps::thread_source().threads}}},
                                    {"results", nlohmann::ordered_json::array()}};
    for (const Result& result : group) document["results"].push_back(to_json(result));
    const report::Run run = report::read_run(std::move(document));
    bool first = true;
    for (const report::Row& row : run.rows) {
      if (!row.failing()) continue;
      if (first) fmt::print("{}\n", apps::styled("to see it again:", Style::Dim, colour_));
      fmt::print("  {}\n", report::reproduce_command(row, run));
      first = false;
    }
  }

  const Options options_;
  const bool colour_;
};

} // namespace

std::unique_ptr<Reporter> table_reporter(const Options& options) { return std::make_unique<TableReporter>(options); }

} // namespace tessera::compare_app
