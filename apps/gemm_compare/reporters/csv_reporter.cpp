/// One line for each result, for spreadsheets. Empty fields are unknown.

#include <tessera/detail/printable.hpp>

#include "report/columns/columns.hpp"
#include "reporter.hpp"

namespace tessera::compare_app {
namespace {

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"') result += '"';
    result += c;
  }
  return result + '"';
}

class CsvReporter final : public Reporter {
 public:
  explicit CsvReporter(std::string target) : target_(std::move(target)) {
    add_line([](const report::Column& column) { return std::string(column.csv.heading); });
  }

  void add_group(const std::vector<Result>& group) override {
    for (const Result& result : group) {
      const report::Entry entry = entry_of(result);
      add_line(
          [&](const report::Column& column) { return quoted(detail::printable(report::exact_text(column, entry))); });
    }
  }

  void finish() override { write_report(target_, text_); }

 private:
  template <class Field>
  void add_line(const Field& field) {
    for (std::size_t c = 0; c < shown_.size(); ++c) text_ += (c > 0 ? "," : "") + field(*shown_[c]);
    text_ += '\n';
  }

  const std::string target_;
  const std::vector<const report::Column*> shown_ = report::shown_in(&report::Column::csv);
  std::string text_;
};

} // namespace

std::unique_ptr<Reporter> csv_reporter(const Options& options) { return std::make_unique<CsvReporter>(options.csv); }

} // namespace tessera::compare_app
