/// Prints tables on the terminal: one for each shape and type.

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <fmt/format.h>

#include <tessera/detail/printable.hpp>

#include "common/machine.hpp"
#include "common/terminal.hpp"
#include "report/columns/columns.hpp"
#include "report/format.hpp"
#include "report/reproduce.hpp"
#include "reporter.hpp"

namespace tessera::compare_app {
namespace {

using apps::Style;
using report::Column;
using report::Print;

const std::string none = "–";

std::string time_text(double seconds) {
  if (std::isnan(seconds)) return none;
  if (seconds < 1e-3) return fmt::format("{:.1f} µs", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.2f} ms", seconds * 1e3);
  return fmt::format("{:.2f} s", seconds);
}

std::string spread_text(const report::Row& row) {
  if (row.samples < 2) return row.samples == 0 ? none : "once";
  return fmt::format("±{:.0f} %", report::spread_percent(row));
}

std::string number(double value, const char* format) {
  return std::isnan(value) ? none : fmt::format(fmt::runtime(format), value);
}

std::string error_text(double value) { return value == 0 ? "0" : fmt::format("{:.2e}", value); }

/// A number of unit roundoffs.
std::string units_text(double value) {
  return value < 1e6 ? fmt::format("{:.2f}", value) : fmt::format("{:.2e}", value);
}

std::string cell(const Column& column, const report::Row& row) {
  const double value = report::number_of(column, row);
  switch (column.print) {
    case Print::Threads:
      return value > 0 ? report::exact_text(column, row) : none;
    case Print::Time:
      return time_text(value);
    case Print::Spread:
      return spread_text(row);
    case Print::Speed:
    case Print::Factor:
      return number(value, "{:.2f}");
    case Print::Percent:
      return number(value, "{:.1f}");
    case Print::Error:
    case Print::Bound:
      return row.compared() ? error_text(value) : none;
    case Print::Units:
      return row.compared() && row.op == "gemm" ? units_text(value) : none;
    case Print::Count:
      return std::isnan(value) ? none : report::exact_text(column, row);
    default:
      return report::exact_text(column, row);
  }
}

/// Returns the columns of a table: the columns of the median, or the columns of the mean, which --preset asks for.
std::vector<const Column*> columns_of(const Options& options) {
  std::vector<const Column*> shown = report::shown_in(&Column::table);
  std::erase_if(shown,
                [&](const Column* column) { return column->name == std::string(options.mean ? "median" : "mean"); });
  return shown;
}

/// Every cell below the heading says nothing or the usual "strict".
bool is_empty(const std::vector<std::string>& cells) {
  return std::all_of(cells.begin() + 1, cells.end(),
                     [](const std::string& text) { return text == none || text == to_string(Math::Strict); });
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
    std::vector<std::string> lines(group.size() + 1); // the first line has the headings
    for (const Column* column : columns_of(options_)) add_column(*column, group, lines);
    fmt::print("\n{}\n", apps::styled(heading(group.front()), Style::Bold, colour_));
    fmt::print("{}\n", apps::styled(lines.front(), Style::Dim, colour_));
    for (std::size_t r = 0; r < group.size(); ++r)
      fmt::print("{}{}\n", lines[r + 1], group[r].reason.empty() ? "" : ": " + detail::printable(group[r].reason));
    print_commands(group);
    apps::flush_stdout();
  }

  void finish() override {}

 private:
  /// Adds a column to each line, unless the column is empty. The verdict, which is the last one, has colour and no
  /// padding.
  void add_column(const Column& column, const std::vector<Result>& group, std::vector<std::string>& lines) const {
    std::vector<std::string> cells{column.table.heading};
    for (const Result& result : group) cells.push_back(detail::printable(cell(column, row_of(result))));
    if (is_empty(cells)) return;
    std::size_t width = 0;
    for (const std::string& text : cells) width = std::max(width, apps::display_width(text));
    for (std::size_t r = 0; r < cells.size(); ++r)
      if (r > 0 && column.print == Print::Verdict)
        lines[r] += apps::styled(cells[r], style_of(group[r - 1].verdict), colour_);
      else
        lines[r] +=
            (report::is_number(column) ? apps::pad_left(cells[r], width) : apps::pad_right(cells[r], width)) + "  ";
  }

  /// Prints the command that shows each failing row again.
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
      fmt::print("  {}\n", detail::printable(report::reproduce_command(row, run)));
      first = false;
    }
  }

  const Options options_;
  const bool colour_;
};

} // namespace

std::unique_ptr<Reporter> table_reporter(const Options& options) { return std::make_unique<TableReporter>(options); }

} // namespace tessera::compare_app
