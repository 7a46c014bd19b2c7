/// Prints tables on the terminal: one for each shape and type.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>

#include <fmt/format.h>

#include <tessera/detail/printable.hpp>

#include "common/machine.hpp"
#include "common/terminal.hpp"
#include "report/columns/columns.hpp"
#include "report/format.hpp"
#include "report/reproduce.hpp"
#include "reporter.hpp"
#include "table_layout.hpp"
#include "table_notes.hpp"

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

std::string spread_text(const report::Entry& entry) {
  if (entry.samples < 2) return entry.samples == 0 ? none : "once";
  return fmt::format("±{:.0f} %", report::spread_percent(entry));
}

std::string number(double value, const char* format) {
  return std::isnan(value) ? none : fmt::format(fmt::runtime(format), value);
}

std::string error_text(double value) { return value == 0 ? "0" : fmt::format("{:.2e}", value); }

/// A number of unit roundoffs.
std::string units_text(double value) {
  return value < 1e6 ? fmt::format("{:.2f}", value) : fmt::format("{:.2e}", value);
}

std::string cell(const Column& column, const report::Entry& entry) {
  const double value = report::number_of(column, entry);
  switch (column.print) {
    case Print::Kernel:
      return report::exact_text(column, entry) + report::contract_mark(entry);
    case Print::Threads:
      return value > 0 ? report::exact_text(column, entry) : none;
    case Print::Time:
      return time_text(value);
    case Print::Spread:
      return spread_text(entry);
    case Print::Speed:
    case Print::Bandwidth:
    case Print::Factor:
      return number(value, "{:.2f}");
    case Print::Percent:
      return number(value, "{:.1f}");
    case Print::Error:
    case Print::Bound:
      return entry.compared() ? error_text(value) : none;
    case Print::Units:
      return entry.compared() && entry.op == "gemm" ? units_text(value) : none;
    case Print::Count:
      return std::isnan(value) ? none : report::exact_text(column, entry);
    case Print::Bar: // the reporter draws it, because it knows the other entries
      return "";
    default:
      return report::exact_text(column, entry);
  }
}

/// The least and the most columns of the terminal that a bar takes.
constexpr std::size_t least_bar = 8, most_bar = 24;
/// A kernel's name is cut to this, where even the columns that always stay are too wide.
constexpr std::size_t least_name = 12;

/// Returns the columns that --columns chooses. Without it, returns the usual ones, with the mean in place of the median
/// if a preset asks for it, and a bar only where a width is to be filled.
std::vector<const Column*> columns_of(const Options& options, std::size_t width) {
  if (!options.columns.empty()) {
    std::vector<const Column*> chosen;
    for (const std::string& name : options.columns) chosen.push_back(report::find_column(name));
    return chosen;
  }
  std::vector<const Column*> shown = report::shown_in(&Column::table);
  std::erase_if(shown, [&](const Column* column) {
    return column->name == std::string(options.mean ? "median" : "mean") || (column->print == Print::Bar && width == 0);
  });
  return shown;
}

std::string heading_of(const Column& column) {
  return column.table.heading != nullptr ? column.table.heading : column.name;
}

/// Every cell below the heading says nothing or the usual "strict".
bool is_empty(const std::vector<std::string>& cells) {
  return std::all_of(cells.begin() + 1, cells.end(), [](const std::string& text) {
    return text.empty() || text == none || text == to_string(Math::Strict);
  });
}

/// Returns whether two entries differ in this column alone among the columns that identify entries, as a kernel with
/// one thread and with two does.
bool tells_entries_apart(const Column& column, const std::vector<report::Entry>& entries) {
  if (!column.identifies) return false;
  std::set<std::string> all, others;
  for (const report::Entry& entry : entries) {
    std::string name;
    for (const Column& other : report::columns())
      if (other.identifies && &other != &column) name += report::exact_text(other, entry) + '\n';
    others.insert(name);
    all.insert(name + report::exact_text(column, entry));
  }
  return others.size() < all.size();
}

Style style_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::Pass:
      return Style::Green;
    case Verdict::Wrong:
    case Verdict::Failed:
      return Style::Red;
    case Verdict::CannotSay:
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
  if (first.operation == Operation::System)
    return fmt::format("{}: {}, n = {}, {}", first.system, first.summary, first.n, type_word(first));
  if (first.operation == Operation::User) {
    const std::string what = first.summary.empty() ? first.kernel : fmt::format("{}: {}", first.kernel, first.summary);
    return detail::printable(fmt::format("{}, {}, {}", what, report::sizes_text(first), to_string(first.type)));
  }
  if (first.operation == Operation::SumOfSquares)
    return fmt::format("Σx², length {}, {}", first.n, to_string(first.type));
  std::string text = fmt::format("m = {}, n = {}, k = {}, {}", first.m, first.n, first.k, type_word(first));
  if (!first.result.empty()) text += fmt::format(", C in {}", first.result);
  if (first.trans_a) text += ", A transposed";
  if (first.trans_b) text += ", B transposed";
  if (first.alpha != 1) text += fmt::format(", alpha = {}", first.alpha);
  if (first.beta != 0) text += fmt::format(", beta = {}", first.beta);
  return text;
}

class TableReporter final : public Reporter {
 public:
  explicit TableReporter(const Options& options)
      : options_(options), colour_(apps::shows_colour(stdout)), width_(table_width(options)) {}

  void add_group(const std::vector<Result>& group) override {
    if (group.empty()) return;
    TableNotes notes;
    std::vector<Result> ran;
    for (const Result& result : group) {
      notes.add(result);
      if (!is_left_out(result)) ran.push_back(result);
    }
    fmt::print("\n{}\n", apps::styled(apps::wrapped(heading(group.front()), width_, 2), Style::Bold, colour_));
    if (!ran.empty()) print_table(ran);
    for (const std::string& line : notes.lines()) fmt::print("{}\n", apps::wrapped(line, width_, 2));
    print_commands(group);
    apps::flush_stdout();
  }

  void finish() override {}

 private:
  void print_table(const std::vector<Result>& group) const {
    std::vector<TextColumn> columns = text_columns(group);
    std::vector<std::string> verdicts; // have colour where they stand last, so that no padding has it
    if (columns.back().cells.front() == verdict_heading_) {
      verdicts = columns.back().cells;
      for (std::string& cell : columns.back().cells) cell.clear();
    }
    const std::vector<std::string> lines = lines_of(columns);
    for (std::size_t r = 0; r < lines.size(); ++r) {
      const std::string verdict = verdicts.empty() ? "" : verdicts[r];
      if (r == 0)
        fmt::print("{}\n", apps::styled(lines[r] + verdict, Style::Dim, colour_));
      else
        fmt::print("{}{}\n", lines[r], apps::styled(verdict, style_of(group[r - 1].verdict), colour_));
    }
  }

  /// Returns the columns that are shown. A column that --columns names is shown in any case; of the others, the ones
  /// that say something and fit.
  std::vector<TextColumn> text_columns(const std::vector<Result>& group) const {
    std::vector<report::Entry> entries;
    entries.reserve(group.size());
    for (const Result& result : group) entries.push_back(entry_of(result));
    const bool chosen = !options_.columns.empty();
    std::vector<TextColumn> texts;
    std::size_t kernel = no_column, bars = no_column;
    for (const Column* column : columns_of(options_, width_)) {
      const int priority = tells_entries_apart(*column, entries) ? 0 : column->table.priority;
      TextColumn text{{heading_of(*column)}, report::is_number(*column), priority, 0};
      for (const report::Entry& entry : entries) text.cells.push_back(detail::printable(cell(*column, entry)));
      if (column->print == Print::Bar) {
        bars = texts.size();
        text.least = least_bar;
      } else if (!chosen && is_empty(text.cells)) {
        continue;
      }
      if (column->print == Print::Kernel) kernel = texts.size();
      texts.push_back(std::move(text));
    }
    if (chosen) {
      if (bars != no_column) draw_bars(entries, most_bar, texts[bars]);
      return texts;
    }
    cut_names(texts, kernel);
    const std::vector<std::size_t> fit = fitting(texts, width_);
    std::vector<TextColumn> shown;
    shown.reserve(fit.size());
    for (const std::size_t c : fit) shown.push_back(texts[c]);
    const auto at = std::find(fit.begin(), fit.end(), bars);
    if (at != fit.end())
      draw_bars(entries, std::min(most_bar, least_bar + width_ - width_of(shown)),
                shown[static_cast<std::size_t>(at - fit.begin())]);
    return shown;
  }

  /// Cuts the kernels' names where even the columns that always stay are wider than the terminal.
  void cut_names(std::vector<TextColumn>& texts, std::size_t kernel) const {
    if (width_ == 0 || kernel == no_column) return;
    std::vector<TextColumn> staying;
    std::copy_if(texts.begin(), texts.end(), std::back_inserter(staying),
                 [](const TextColumn& text) { return text.priority == 0; });
    const std::size_t needed = width_of(staying), whole = texts[kernel].width();
    if (needed <= width_) return;
    const std::size_t room = std::max(least_name, whole - std::min(whole, needed - width_));
    for (std::string& name : texts[kernel].cells) name = apps::clipped(name, room);
  }

  /// Fills a column with bars of `width` columns, of which the fastest entry's is full.
  void draw_bars(const std::vector<report::Entry>& entries, std::size_t width, TextColumn& text) const {
    double most = 0;
    for (const report::Entry& entry : entries) most = std::max(most, std::isfinite(entry.speed()) ? entry.speed() : 0);
    for (std::size_t r = 0; r < entries.size(); ++r)
      text.cells[r + 1] = most > 0 ? bar(entries[r].speed() / most, width, blocks_) : "";
    text.least = width;
  }

  /// Prints the command that shows each failing entry again.
  void print_commands(const std::vector<Result>& group) const {
    report::Run run;
    run.document = {{"inputs", inputs_json(options_)}, {"machine", {{"threads", apps::thread_source().threads}}}};
    for (const Result& result : group) run.entries.push_back(entry_of(result));
    bool first = true;
    for (const report::Entry& entry : run.entries) {
      if (!entry.failing()) continue;
      if (first) fmt::print("{}\n", apps::styled("to see it again:", Style::Dim, colour_));
      fmt::print("  {}\n", detail::printable(report::reproduce_command(entry, run)));
      first = false;
    }
  }

  static constexpr std::size_t no_column = static_cast<std::size_t>(-1);

  const Options options_;
  const bool colour_;
  const bool blocks_ = apps::locale_is_utf8();
  const std::size_t width_; ///< 0: no limit
  const std::string verdict_heading_ = heading_of(*report::find_column("verdict"));
};

} // namespace

std::size_t table_width(const Options& options) { return options.width.value_or(apps::terminal_width(stdout)); }

std::unique_ptr<Reporter> table_reporter(const Options& options) { return std::make_unique<TableReporter>(options); }

} // namespace tessera::compare_app
