/// Writes the report for programs, {"schema": "tessera.compare/1", "machine": {…}, "results": […], "grades": […]}, and
/// the page and the Markdown that are made from it. Numbers that are not finite are null.

#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "check/grades.hpp"
#include "common/machine.hpp"
#include "report/columns/columns.hpp"
#include "report/html_report.hpp"
#include "report/markdown_report.hpp"
#include "reporter.hpp"

namespace tessera::compare_app {
namespace {

using nlohmann::ordered_json;

/// The counts that are not zero, by the largest distance in their bin.
ordered_json ulps_json(const UlpHistogram& ulps) {
  ordered_json json = ordered_json::object();
  for (std::size_t bin = 0; bin < UlpHistogram::bins; ++bin)
    if (ulps.count(bin) > 0) json[fmt::format("{:.0f}", UlpHistogram::up_to(bin))] = ulps.count(bin);
  if (ulps.infinite() > 0) json["infinite"] = ulps.infinite();
  return json;
}

ordered_json worst_json(const std::vector<WorstElement>& worst) {
  ordered_json json = ordered_json::array();
  for (const WorstElement& element : worst)
    json.push_back({{"row", element.row},
                    {"col", element.col},
                    {"computed", element.computed},
                    {"exact", element.exact},
                    {"bound", element.bound},
                    {"over_bound", element.over_bound}});
  return json;
}

ordered_json count_json(const NonFinite& count) { return {{"nan", count.nan}, {"inf", count.inf}}; }

/// Adds the details of a result's errors that are no columns.
void add_error_details(const GemmError& error, ordered_json& json) {
  json["ulps"] = ulps_json(error.ulps);
  json["worst"] = worst_json(error.worst);
  json["expected"] = count_json(error.expected);
  json["found"] = count_json(error.found);
}

ordered_json state_json(const DeviceState& state) {
  return {{"sm_mhz", state.sm_mhz},
          {"memory_mhz", state.memory_mhz},
          {"power_w", state.power_w},
          {"temperature_c", state.temperature_c}};
}

} // namespace

report::Entry entry_of(const Result& result) {
  report::Entry entry;
  entry.facts() = result.facts();
  entry.op = operation_name(result);
  entry.backend = backend_name(result);
  entry.dtype = type_word(result);
  entry.math = to_string(result.math);
  entry.verdict = to_string(result.verdict);
  const TimeSummary time = summarize(result.samples);
  entry.median = time.median;
  entry.min = time.min;
  entry.max = time.max;
  entry.mean = time.mean;
  entry.samples = static_cast<int>(result.samples.size());
  if (result.error)
    for (const ErrorNumber& number : error_numbers) set_number(entry, number.name, number.value(*result.error));
  return entry;
}

ordered_json to_json(const Result& result) {
  ordered_json json = report::columns_json(entry_of(result));
  if (result.error) add_error_details(*result.error, json["error"]);
  if (const auto& whole = result.freivalds)
    json["freivalds"] = {{"vectors", whole->vectors},
                         {"rows", whole->rows},
                         {"rows_judged", whole->rows_judged},
                         {"max_over_bound", whole->max_over_bound},
                         {"worst_row", whole->worst_row}};
  if (!result.device.empty()) {
    json["device"] = result.device;
    json["offence"] = result.offence;
  }
  if (!std::isnan(result.processor_seconds)) json["processor_seconds"] = result.processor_seconds;
  if (!result.samples.empty() && result.operation == Operation::Gemm && result.device.empty()) {
    json["timing"] = to_string(result.timing);
    if (result.timing == Timing::Graph) json["runs_per_sample"] = result.runs_per_sample;
  }
  if (!result.timing_note.empty()) json["timing_note"] = result.timing_note;
  if (result.device_state) json["device_state"] = state_json(*result.device_state);
  return json;
}

/// The options that say what the operands were, without options that have their default.
ordered_json inputs_json(const Options& options) {
  ordered_json inputs = ordered_json::object();
  if (options.reads_files()) {
    inputs["a"] = options.file_a;
    inputs["b"] = options.file_b;
    if (!options.file_c.empty()) inputs["c"] = options.file_c;
  } else {
    if (!options.distribution.empty()) inputs["dist"] = options.distribution;
    inputs["seed"] = options.seed;
  }
  if (options.ld_pad >= 0) inputs["ld_pad"] = options.ld_pad;
  if (const Judging& judging = options.judging; !judging.files.empty()) {
    inputs["kernel"] = judging.files;
    inputs["abi"] = judge::to_string(judging.abi);
    if (judging.device) inputs["device"] = judge::to_string(*judging.device);
    if (judging.math != Math::Strict) inputs["kernel_math"] = to_string(judging.math);
    if (!judging.flags.empty()) inputs["kernel_flags"] = judging.flags;
    if (judging.time_limit != Judging().time_limit) inputs["kernel_time_limit"] = judging.time_limit;
    if (judging.memory_limit != Judging().memory_limit) inputs["kernel_memory_limit"] = judging.memory_limit >> 20;
  }
  for (const ChosenOperation& operation : options.operations)
    if (const auto& [entry, file] = operation.named; !file.empty())
      inputs["op_plugins"][fmt::format("{} {}", entry->name, to_string(entry->type))] = file;
  if (options.cblas != Options().cblas) inputs["cblas"] = options.cblas;
  if (options.repeat != Options().repeat) inputs["repeat"] = options.repeat;
  if (options.timing != Options().timing) inputs["timing"] = to_string(options.timing);
  if (options.check_rows == std::numeric_limits<Index>::max())
    inputs["check_rows"] = "all";
  else if (options.check_rows > 0)
    inputs["check_rows"] = options.check_rows;
  return inputs;
}

namespace {

ordered_json grade_json(const GradedKernel& kernel) {
  ordered_json json = report::kernel_json(entry_of(kernel.last));
  json["grade"] = to_string(kernel.grading.grade);
  json["slope"] = kernel.grading.slope;
  json["sizes"] = ordered_json::array();
  for (const SizeErrors& size : kernel.sizes)
    json["sizes"].push_back({{"n", size.n},
                             {"componentwise", size.componentwise},
                             {"row_column", size.row_column},
                             {"norm_product", size.norm_product}});
  return json;
}

class DocumentReporter final : public Reporter {
 public:
  DocumentReporter(const Options& options, const RacePlan& plan, const apps::CeilingTable& ceilings)
      : options_(options), backends_(plan.backends), ceilings_(ceilings) {
    for (const MissingBackend& missing : plan.missing)
      missing_.push_back(
          {{"backend", to_string(missing.backend)}, {"demanded", missing.demanded}, {"reason", missing.reason}});
  }

  void add_group(const std::vector<Result>& group) override {
    for (const Result& result : group) results_.push_back(to_json(result));
    book_.add(group);
  }

  void finish() override {
    ordered_json machine = apps::machine_json(backends_);
    machine["ceilings"] = ceilings_.to_json();
    ordered_json grades = ordered_json::array();
    for (const GradedKernel& kernel : book_.grades()) grades.push_back(grade_json(kernel));
    const ordered_json document{{"schema", "tessera.compare/1"},
                                {"command", options_.command},
                                {"inputs", inputs_json(options_)},
                                {"machine", machine},
                                {"missing_backends", missing_},
                                {"results", results_},
                                {"grades", grades}};
    const std::string text = document.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
    if (!options_.json.empty()) write_report(options_.json, text);
    if (options_.html.empty() && options_.markdown.empty()) return;
    const ordered_json written =
        ordered_json::parse(text); // as --diff reads it: numbers that are not finite are null now
    if (!options_.html.empty()) write_report(options_.html, report::html_report(written));
    if (!options_.markdown.empty()) write_report(options_.markdown, report::markdown_report(written));
  }

 private:
  Options options_;
  std::vector<Backend> backends_;
  const apps::CeilingTable& ceilings_;
  GradeBook book_;
  ordered_json missing_ = ordered_json::array();
  ordered_json results_ = ordered_json::array();
};

} // namespace

std::unique_ptr<Reporter> document_reporter(const Options& options, const RacePlan& plan,
                                            const apps::CeilingTable& ceilings) {
  return std::make_unique<DocumentReporter>(options, plan, ceilings);
}

} // namespace tessera::compare_app
