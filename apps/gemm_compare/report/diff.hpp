#pragma once

/// Two runs, row by row: what became faster and what slower.
///
/// The rule. Of each run a row has the smallest, the median and the largest of its samples.
///   - Fewer than five samples in either run: can't tell.
///   - The runs are *apart* if all samples of the one lie above the median of the other, whose samples in turn all lie
///     below the median of the one: new.min > old.median and new.median > old.max, or the same with old and new
///     exchanged. Two runs of the same kernel are apart by chance once in 80 rows for seven samples each (once in 20
///     for five, in several hundred for ten), and then rarely by much.
///   - Apart, and the medians differ by more than 5 %: faster or slower.
///   - Not that, but no two samples, one of each run, differ by more than 10 %; or apart by 5 % or less: same.
///   - Else: can't tell; more repetitions or a quieter machine would.
/// It says nothing about what changes from run to run but not within one (clocks, placement of memory): where that
/// matters, run twice and compare the two first.
///
/// A row that passed and now fails is *broken*, whatever its time; one that failed and now passes is judged by time.

#include <string>
#include <string_view>
#include <vector>

#include "document.hpp"

namespace tessera::report {

enum class Change { Faster, Slower, Same, CannotTell, Broken };

std::string_view to_string(Change change);

/// From the medians and spreads of two rows alone. The reason is set for CannotTell.
Change judge(const Row& old_row, const Row& new_row, std::string& reason);

struct DiffRow {
  Row old_row, new_row;
  Change change = Change::CannotTell;
  double ratio = unknown; ///< new median ÷ old median: above 1 is slower
  std::string reason;     ///< why it cannot be told or is broken
};

struct Diff {
  std::vector<DiffRow> rows;            ///< in both runs, in the new one's order
  std::vector<Row> only_old, only_new;  ///< the others
  std::vector<std::string> differences; ///< of the machines: "cpu: old → new"

  std::size_t count(Change change) const;
  /// Some row is slower or broken.
  bool worse() const { return count(Change::Slower) + count(Change::Broken) > 0; }
};

/// Rows are matched by all that names them: operation, backend, kernel, type, mode, shape, transposes, alpha, beta and
/// number of threads; equal ones in their order.
Diff diff_runs(const Run& old_run, const Run& new_run);

/// The report for people: warnings first, then what changed, largest first, then the counts.
std::string diff_report(const Diff& diff);

} // namespace tessera::report
