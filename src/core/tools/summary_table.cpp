#include "summary_table.hpp"

#include <algorithm>
#include <array>

#include <tessera/detail/number_text.hpp>
#include <tessera/detail/printable.hpp>

namespace tessera::tools {
namespace {

/// Returns a number with three digits and its unit.
std::string with_unit(double value, const std::array<const char*, 4>& units, double step, double smallest) {
  std::size_t unit = 0;
  value /= smallest;
  while (unit + 1 < units.size() && value >= 999.5) {
    value /= step;
    ++unit;
  }
  const int digits = value >= 99.95 || value == 0 ? 0 : value >= 9.995 ? 1 : 2;
  return detail::fixed_text(value, digits) + " " + units[unit];
}

std::string time_text(double seconds) { return with_unit(seconds, {"us", "ms", "s", "ks"}, 1000, 1e-6); }
std::string bytes_text(double bytes) {
  return bytes < 999.5 ? with_unit(bytes, {"B", "B", "B", "B"}, 1, 1)
                       : with_unit(bytes, {"kB", "MB", "GB", "TB"}, 1000, 1e3);
}

/// Returns amount ÷ time in 1e9 a second; a dash where there is no such thing.
std::string rate_text(double amount, double seconds) {
  if (amount <= 0 || seconds <= 0) return "-";
  const double rate = amount / seconds * 1e-9;
  return detail::fixed_text(rate, rate >= 99.95 ? 0 : rate >= 9.995 ? 1 : 2);
}

const char* word_of(Kind kind) {
  switch (kind) {
    case Kind::Product:
      return "product";
    case Kind::Batch:
      return "batch";
    case Kind::ElementWise:
      return "element-wise";
    case Kind::Reduction:
      return "reduction";
    case Kind::CopyIn:
    case Kind::CopyOut:
    case Kind::CopyWithin:
      return "copy";
    case Kind::Allocate:
    case Kind::Free:
      return "memory";
    case Kind::Verify:
      return "verify";
    case Kind::Repair:
      return "repair";
    case Kind::Panel:
      return "panel";
  }
  return "other";
}

/// Has work of this kind elements of a type?
bool has_type(Kind kind) { return kind <= Kind::Reduction || kind >= Kind::Verify; }
/// Are the bytes of this kind of work moved?
bool moves(Kind kind) { return kind != Kind::Allocate && kind != Kind::Free; }

constexpr std::size_t columns = 11;
using Cells = std::array<std::string, columns>;
using Widths = std::array<std::size_t, columns>;
const Cells head{"name", "kind", "backend", "type", "calls", "time", "share", "clock", "bytes", "GB/s", "GFLOP/s"};
constexpr std::size_t left_columns = 4; ///< Columns of words; the others are right-aligned.

Cells cells_of(const SummaryEntry& entry, double total) {
  const Totals& totals = entry.totals;
  const double seconds = totals.seconds();
  const std::string share = total > 0 && !entry.within ? detail::fixed_text(100 * seconds / total, 1) + "%" : "-";
  std::string name = detail::printable(entry.name);
  if (totals.failed > 0) name += " (" + std::to_string(totals.failed) + " failed)";
  return {std::move(name),
          word_of(entry.kind),
          detail::printable(entry.backend),
          has_type(entry.kind) ? std::string(to_string(entry.type)) : "-",
          std::to_string(totals.calls),
          time_text(seconds),
          share,
          totals.by_device() ? "device" : "host",
          bytes_text(totals.bytes),
          rate_text(moves(entry.kind) ? totals.bytes : 0, seconds),
          rate_text(totals.operations, seconds)};
}

std::string line_of(const Cells& cells, const Widths& widths) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string space(widths[i] - std::min(widths[i], cells[i].size()), ' ');
    line += (i == 0 ? "" : "  ") + (i < left_columns ? cells[i] + space : space + cells[i]);
  }
  return line + "\n";
}

} // namespace

std::string summary_table(std::vector<SummaryEntry> entries) {
  std::stable_sort(entries.begin(), entries.end(), [](const SummaryEntry& x, const SummaryEntry& y) {
    return x.within != y.within ? y.within : x.totals.seconds() > y.totals.seconds();
  });
  double total = 0;
  long calls = 0;
  for (const SummaryEntry& entry : entries) {
    if (entry.within) continue;
    total += entry.totals.seconds();
    calls += entry.totals.calls;
  }
  std::vector<Cells> table{head};
  for (const SummaryEntry& entry : entries) table.push_back(cells_of(entry, total));
  Widths widths{};
  for (const Cells& cells : table)
    for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], cells[i].size());

  std::string text = "tessera: TESSERA_PROFILE=summary: " + time_text(total) + " in " + std::to_string(calls) +
                     " operations\n" + line_of(head, widths);
  bool within = false;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].within && !within) text += "parts of these operations, whose times include them:\n";
    within = entries[i].within;
    text += line_of(table[i + 1], widths);
  }
  return text;
}

} // namespace tessera::tools
