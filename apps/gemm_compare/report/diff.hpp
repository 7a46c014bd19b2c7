#pragma once

/// Compares two runs entry by entry and says what became faster and what slower.
///
/// The rule. In each run an entry has the smallest, the median and the largest of its samples.
///   - Fewer than five samples in either run: can't tell.
///   - The runs are *apart* if all samples of the slower run lie above the median of the faster run, and all samples of
///     the faster run lie below the median of the slower run: new.min > old.median and new.median > old.max, or
///     old.min > new.median and old.median > new.max. Two runs of one kernel are apart by chance once in 80 entries for
///     seven samples each (once in 20 for five, once in several hundred for ten), and then rarely by much.
///   - The runs are apart, and their medians differ by more than 5 %: faster or slower.
///   - The runs are apart by 5 % or less, or no sample of one run differs from a sample of the other by more than 10 %:
///     same.
///   - Else: can't tell. More repetitions or a quieter machine would help.
/// The rule does not see what changes from run to run but not within a run (clocks, placement of memory). Where that
/// matters, run twice and compare these two runs first.
///
/// An entry that passed and now fails is *broken*, whatever its time. An entry that failed and now passes is judged by
/// time.

#include <string>
#include <string_view>
#include <vector>

#include "document.hpp"

namespace tessera::report {

enum class Change { Faster, Slower, Same, CannotTell, Broken };

std::string_view to_string(Change change);

/// Applies the rule to the medians and spreads of two entries. Sets the reason for CannotTell.
Change judge(const Entry& old_entry, const Entry& new_entry, std::string& reason);

struct DiffEntry {
  Entry old_entry, new_entry;
  Change change = Change::CannotTell;
  double ratio = unknown; ///< new median ÷ old median: above 1 is slower
  std::string reason;     ///< why it cannot be told or is broken
};

struct Diff {
  std::vector<DiffEntry> entries;        ///< entries of both runs, in the order of the new run
  std::vector<Entry> only_old, only_new; ///< entries of one run only
  std::vector<std::string> differences;  ///< between the machines: "cpu: old → new"

  std::size_t count(Change change) const;
  /// Some entry is slower or broken.
  bool worse() const { return count(Change::Slower) + count(Change::Broken) > 0; }
};

/// Compares the entries that agree in every column that identifies an entry (columns/columns.hpp). Entries that agree
/// in all of them are matched in their order.
Diff diff_runs(const Run& old_run, const Run& new_run);

/// The report for people: warnings first, then what changed, largest first, then the counts.
std::string diff_report(const Diff& diff);

} // namespace tessera::report
