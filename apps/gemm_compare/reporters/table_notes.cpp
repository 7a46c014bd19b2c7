#include "table_notes.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <tessera/detail/printable.hpp>

#include "common/words.hpp"

namespace tessera::compare_app {
namespace {

/// Returns how a line of this verdict begins.
std::string_view start_of(Verdict verdict) {
  if (verdict == Verdict::Rejected) return "not run";
  return verdict == Verdict::Pass ? "note" : to_string(verdict);
}

template <class Range, class Matches>
auto& found_or_added(Range& range, const Matches& matches, typename Range::value_type fresh) {
  const auto at = std::find_if(range.begin(), range.end(), matches);
  return at != range.end() ? *at : range.emplace_back(std::move(fresh));
}

} // namespace

void TableNotes::add(const Result& result) {
  passed_ += result.verdict == Verdict::Pass ? 1 : 0;
  if (result.reason.empty()) return;
  const bool too_long = result.expected_seconds > 0;
  const std::string reason = too_long ? "" : result.reason;
  Note& note = found_or_added(
      notes_, [&](const Note& other) { return other.verdict == result.verdict && other.reason == reason; },
      {result.verdict, reason, {}});
  ++note.entries;
  note.longest = std::max(note.longest, result.expected_seconds);
  Kernel& kernel = found_or_added(note.kernels, [&](const Kernel& other) { return other.name == result.kernel; },
                                  {result.kernel, {}});
  const std::string backend(backend_name(result));
  found_or_added(
      kernel.backends, [&](const std::string& other) { return other == backend; }, backend);
}

std::string TableNotes::line(const Note& note) const {
  std::vector<std::string> names;
  for (const Kernel& kernel : note.kernels)
    names.push_back(fmt::format("{} ({})", kernel.name, apps::joined(kernel.backends, ", ")));
  const bool all = note.verdict == Verdict::Pass && note.entries == passed_ && passed_ > 1;
  const std::string kernels = all ? fmt::format("all {} entries that passed", passed_) : apps::joined(names, ", ");
  std::string reason = note.reason;
  if (note.longest > 0)
    reason = fmt::format(
        "a run takes longer than --time-limit, about {:.3g} s at most; --time-limit {:.0f}, or 0 for no "
        "limit, runs {}",
        note.longest, std::ceil(note.longest * 1.2), note.entries == 1 ? "it" : "them");
  return detail::printable(fmt::format("{}: {}: {}", start_of(note.verdict), kernels, reason));
}

std::vector<std::string> TableNotes::lines() const {
  std::vector<std::string> lines;
  lines.reserve(notes_.size());
  for (const Note& note : notes_) lines.push_back(line(note));
  return lines;
}

} // namespace tessera::compare_app
