#pragma once

/// Reporters, which write results. Each format is one reporter.

#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "common/ceilings.hpp"
#include "race/plan.hpp"
#include "race/result.hpp"
#include "report/document.hpp"

namespace tessera::compare_app {

class Reporter {
 public:
  virtual ~Reporter() = default;
  /// Takes the results of one group as soon as they are complete.
  virtual void add_group(const std::vector<Result>& group) = 0;
  /// Ends the report, also after an interrupt.
  virtual void finish() = 0;
};

/// Returns the width that text on stdout may take: what --width says, else the terminal's; 0 is no limit.
std::size_t table_width(const Options& options);

std::unique_ptr<Reporter> table_reporter(const Options& options);
/// For --errors: the distribution of each entry's errors and the worst ones.
std::unique_ptr<Reporter> errors_reporter(const Options& options);
/// The grades of kernels that were run at several square sizes, after everything else.
std::unique_ptr<Reporter> grade_reporter(const Options& options);
/// One JSON document for --json, --html and --markdown. The machine is described when the report is written, so that
/// nothing delays the first kernel.
std::unique_ptr<Reporter> document_reporter(const Options& options, const RacePlan& plan,
                                            const apps::CeilingTable& ceilings);
std::unique_ptr<Reporter> csv_reporter(const Options& options);

/// Speed-ups and errors over the sizes, after everything else; for presets of mean times.
std::unique_ptr<Reporter> summary_reporter(const Options& options);

/// For --preset: what the experiment is, before everything else, and its published figures beside the results.
std::unique_ptr<Reporter> published_reporter(const Options& options);

/// In words, after everything else: the fastest strict entry of each backend, how many entries are right, and what did
/// not run, with the reason.
std::unique_ptr<Reporter> findings_reporter(const Options& options, const RacePlan& plan);

/// A result as all reports see it.
report::Entry entry_of(const Result& result);
/// Returns the options that say what the operands were, as they stand in the JSON document.
nlohmann::ordered_json inputs_json(const Options& options);

/// Writes text to a file, or to stdout for "-". Throws IoError.
void write_report(const std::string& target, const std::string& text);

} // namespace tessera::compare_app
