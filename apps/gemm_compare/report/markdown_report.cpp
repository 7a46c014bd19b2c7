#include "markdown_report.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <tessera/detail/printable.hpp>

#include "columns/columns.hpp"
#include "format.hpp"
#include "grades.hpp"
#include "grouping.hpp"
#include "reproduce.hpp"

namespace tessera::report {
namespace {

/// Ends of lines become blanks, and other control characters are written as \x1b.
std::string one_line(std::string text) {
  for (char& c : text)
    if (c == '\n' || c == '\r' || c == '\t') c = ' ';
  return detail::printable(text);
}

/// Escapes text for a cell, so that nothing in it ends the cell or starts markup.
std::string cell(const std::string& text) {
  std::string result;
  for (const char c : one_line(text)) {
    if (std::string_view("|\\`*_<>[]#~&$").find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

/// Puts a command in as many backticks as its text needs, and escapes bars, which would end the cell.
std::string code(const std::string& text) {
  std::size_t longest = 0, here = 0;
  std::string inner;
  for (const char c : one_line(text)) {
    here = c == '`' ? here + 1 : 0;
    longest = std::max(longest, here);
    if (c == '|') inner += '\\';
    inner += c;
  }
  const std::string fence(longest + 1, '`');
  return longest == 0 ? fence + inner + fence : fence + " " + inner + " " + fence;
}

std::string machine_line(const Run& run) {
  const Json& machine = run.machine();
  std::vector<std::string> parts;
  if (const std::string cpu = text_at(machine, "cpu"); !cpu.empty()) parts.push_back(cell(cpu));
  if (const auto threads = machine.find("threads"); threads != machine.end() && threads->is_number())
    parts.push_back(fmt::format("{} threads", threads->dump()));
  if (const auto devices = machine.find("devices"); devices != machine.end() && devices->is_array())
    for (const Json& device : *devices)
      if (device.is_object() && !run.on_host(text_at(device, "backend")))
        parts.push_back(cell(text_at(device, "device")));
  for (const char* key : {"os", "compiler", "date"})
    if (const std::string text = text_at(machine, key); !text.empty()) parts.push_back(cell(text));
  std::string line;
  for (const std::string& part : parts) line += (line.empty() ? "" : " · ") + part;
  return line;
}

/// The best kernel's name and the verdict of a failing entry are bold.
std::string shown_cell(const Column& column, const Entry& entry, const Run& run, bool best) {
  const auto bold = [](const std::string& text, bool is_bold) { return is_bold ? "**" + text + "**" : text; };
  if (column.print == Print::Kernel) return bold(cell(run.label(entry)), best) + contract_mark(entry);
  if (column.print == Print::Verdict) return bold(cell(entry.verdict), entry.failing());
  return is_number(column) ? short_text(column, entry) : cell(short_text(column, entry));
}

std::string table(const EntryGroup& group, const Run& run) {
  const Entry* best = nullptr;
  for (const Entry* entry : group.entries)
    if (!entry->failing() && entry->speed() > 0 && (best == nullptr || entry->speed() > best->speed())) best = entry;
  std::vector<const Column*> shown = shown_in(&Column::markdown);
  std::erase_if(shown, [&](const Column* column) {
    return column->optional && is_number(*column) &&
           std::all_of(group.entries.begin(), group.entries.end(),
                       [&](const Entry* entry) { return lacks(*column, *entry); });
  });
  std::string text = "|", rule = "|";
  for (const Column* column : shown) {
    text += fmt::format(" {} |", column->markdown.heading);
    rule += is_number(*column) ? "--:|" : "---|";
  }
  text += "\n" + rule + "\n";
  for (const Entry* entry : group.entries) {
    text += "|";
    for (const Column* column : shown) text += fmt::format(" {} |", shown_cell(*column, *entry, run, entry == best));
    text += "\n";
  }
  return text;
}

std::string grades(const Run& run) {
  std::string lines;
  for (const GradeClass& one : grade_classes(run)) {
    const Grade& grade = one.shown;
    std::string errors;
    for (const Grade::Size& size : grade.sizes)
      errors += fmt::format("{}{} at {:.0f}", errors.empty() ? "" : ", ", number_text(size.error), size.n);
    lines += fmt::format("| {} | {} | {} | {} | {} | {} |\n", cell(grade.grade), cell(one.names(run)),
                         cell(grade.kernel.dtype), cell(grade.kernel.math), number_text(grade.slope), errors);
  }
  if (lines.empty()) return {};
  return "### How the error grows with n\n\n| grade | kernels | type | math | slope | max \\|Δ\\|/(\\|A\\|\\|B\\|) in "
         "u |\n"
         "|---|---|---|---|--:|---|\n" +
         lines + "\n";
}

} // namespace

std::string markdown_report(const Json& document) {
  const Run run = read_run(document);
  std::string text;
  if (const std::string line = machine_line(run); !line.empty()) text += line + "\n\n";
  if (const std::string command = run.command(); !command.empty()) text += "Made by " + code(command) + "\n\n";
  const auto keep = [](const Entry& entry) { return !entry.transfer && entry.verdict != "rejected"; };
  for (const EntryGroup& group : group_entries(run, keep, product_name))
    text += fmt::format("### {}\n\n{}\n", cell(group.name), table(group, run));
  text += grades(run);
  std::string failures;
  for (const Entry& entry : run.entries)
    if (entry.failing())
      failures +=
          fmt::format("- {} {}, {}: {}{}. Again: {}\n", cell(entry.backend), cell(entry.kernel),
                      cell(product_name(entry)), cell(entry.verdict),
                      entry.reason.empty() ? "" : ", " + cell(entry.reason), code(reproduce_command(entry, run)));
  if (!failures.empty()) text += "### Failing\n\n" + failures;
  return text;
}

} // namespace tessera::report
