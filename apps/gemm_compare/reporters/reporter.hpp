#pragma once

/// Where results go: each format is one reporter.

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
  /// Results that are compared with each other, as soon as they are complete.
  virtual void add_group(const std::vector<Result>& group) = 0;
  /// The report's end; also after an interrupt.
  virtual void finish() = 0;
};

std::unique_ptr<Reporter> table_reporter(const Options& options);
/// For --errors: where each row's errors lie and how large they are.
std::unique_ptr<Reporter> errors_reporter();
/// Grades, after everything else, of kernels that were run at several square sizes.
std::unique_ptr<Reporter> grade_reporter();
/// One JSON document for --json, --html and --markdown. The machine is described when the report is written, so that
/// nothing delays the first kernel.
std::unique_ptr<Reporter> document_reporter(const Options& options, const Plan& plan,
                                            const apps::CeilingTable& ceilings);
std::unique_ptr<Reporter> csv_reporter(const Options& options);

/// Speed-ups and errors over the sizes, after everything else; for --preset.
std::unique_ptr<Reporter> summary_reporter();

/// A result as all reports see it.
report::Row row_of(const Result& result);
/// A result, and what its operands were, as they stand in the JSON document.
nlohmann::ordered_json to_json(const Result& result);
nlohmann::ordered_json inputs_json(const Options& options);

/// To a file, or to stdout for "-". Throws IoError.
void write_report(const std::string& target, const std::string& text);

} // namespace tessera::compare_app
