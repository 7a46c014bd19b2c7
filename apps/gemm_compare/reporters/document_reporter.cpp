/// The report for programs, {"schema": "tessera.compare/1", "machine": {…}, "results": […], "grades": […]}, and the
/// page and the tables that are made from it. Numbers that are not finite are null.

#include <limits>

#include <fmt/format.h>

#include "check/grades.hpp"
#include "common/machine.hpp"
#include "report/html_report.hpp"
#include "report/markdown_report.hpp"
#include "reporter.hpp"

namespace tessera::compare_app {
namespace {

using nlohmann::ordered_json;

/// The counts that are not zero, by the largest distance they stand for.
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

ordered_json error_json(const Result& result) {
  if (!result.error) return nullptr;
  const GemmError& error = *result.error;
  return {{"total_abs", error.total_abs},
          {"max_abs", error.max_abs},
          {"max_rel", error.max_rel},
          {"mean_rel", error.mean_rel},
          {"normwise", error.normwise},
          {"componentwise", error.componentwise},
          {"row_column", error.row_column},
          {"norm_product", error.norm_product},
          {"max_over_bound", error.max_over_bound},
          {"differing_bits", error.differing_bits},
          {"misplaced", error.misplaced},
          {"rows", error.rows},
          {"rows_compared", error.rows_compared},
          {"ulps", ulps_json(error.ulps)},
          {"worst", worst_json(error.worst)},
          {"expected", count_json(error.expected)},
          {"found", count_json(error.found)}};
}

ordered_json seconds_json(const Result& result) {
  if (result.samples.empty()) return nullptr;
  const TimeSummary time = summarize(result.samples);
  return {{"median", time.median},
          {"min", time.min},
          {"max", time.max},
          {"mean", time.mean},
          {"samples", result.samples.size()}};
}

ordered_json state_json(const DeviceState& state) {
  return {{"sm_mhz", state.sm_mhz},
          {"memory_mhz", state.memory_mhz},
          {"power_w", state.power_w},
          {"temperature_c", state.temperature_c}};
}

} // namespace

ordered_json to_json(const Result& result) {
  ordered_json json{{"op", result.operation == Operation::Gemm ? "gemm" : "sum_of_squares"},
                    {"backend", backend_name(result)},
                    {"kernel", result.kernel},
                    {"dtype", to_string(result.type)},
                    {"math", to_string(result.math)},
                    {"canonical", result.canonical},
                    {"m", result.shape.m},
                    {"n", result.shape.n},
                    {"k", result.shape.k},
                    {"trans_a", result.op_a == Op::Transpose},
                    {"trans_b", result.op_b == Op::Transpose},
                    {"alpha", result.alpha},
                    {"beta", result.beta},
                    {"threads", result.threads},
                    {"transfer", result.transfer},
                    {"seconds", seconds_json(result)},
                    {"gflops", result.gflops},
                    {"ceiling_percent", result.ceiling_percent},
                    {"speedup", result.speedup},
                    {"error", error_json(result)},
                    {"check_seconds", result.check_seconds},
                    {"verdict", to_string(result.verdict)},
                    {"reason", result.reason}};
  if (result.result != result.type) json["result"] = to_string(result.result);
  if (const auto& whole = result.freivalds)
    json["freivalds"] = {{"vectors", whole->vectors},
                         {"rows", whole->rows},
                         {"rows_judged", whole->rows_judged},
                         {"max_over_bound", whole->max_over_bound},
                         {"worst_row", whole->worst_row}};
  if (!result.judged_on.empty()) {
    json["device"] = result.judged_on;
    json["offence"] = result.offence;
  }
  if (!result.samples.empty() && result.operation == Operation::Gemm && result.judged_on.empty()) {
    json["timing"] = to_string(result.timing);
    if (result.timing == Timing::Graph) json["runs_per_sample"] = result.runs_per_sample;
  }
  if (!result.timing_note.empty()) json["timing_note"] = result.timing_note;
  if (result.device_state) json["device_state"] = state_json(*result.device_state);
  if (result.device_seconds > 0) json["device_seconds"] = result.device_seconds;
  return json;
}

/// What the operands were, where it was not the default.
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
  if (const Judging& judging = options.judging; !judging.files.empty()) {
    inputs["kernel"] = judging.files;
    inputs["abi"] = judge::to_string(judging.abi);
    if (judging.device) inputs["device"] = judge::to_string(*judging.device);
    if (judging.math != Math::Strict) inputs["kernel_math"] = to_string(judging.math);
    if (!judging.flags.empty()) inputs["kernel_flags"] = judging.flags;
    if (judging.time_limit != Judging().time_limit) inputs["kernel_time_limit"] = judging.time_limit;
    if (judging.memory_limit != Judging().memory_limit) inputs["kernel_memory_limit"] = judging.memory_limit >> 20;
  }
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
  ordered_json json{{"backend", backend_name(kernel.last)}, {"kernel", kernel.last.kernel},
                    {"dtype", to_string(kernel.last.type)}, {"math", to_string(kernel.last.math)},
                    {"threads", kernel.last.threads},       {"grade", to_string(kernel.grading.grade)},
                    {"slope", kernel.grading.slope},        {"sizes", ordered_json::array()}};
  for (const SizeErrors& size : kernel.sizes)
    json["sizes"].push_back({{"n", size.n},
                             {"componentwise", size.componentwise},
                             {"row_column", size.row_column},
                             {"norm_product", size.norm_product}});
  return json;
}

class DocumentReporter final : public Reporter {
 public:
  DocumentReporter(const Options& options, const Plan& plan, const apps::CeilingTable& ceilings)
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
    const ordered_json written = ordered_json::parse(text); // as --diff would read it: null for what is not finite
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

std::unique_ptr<Reporter> document_reporter(const Options& options, const Plan& plan,
                                            const apps::CeilingTable& ceilings) {
  return std::make_unique<DocumentReporter>(options, plan, ceilings);
}

} // namespace tessera::compare_app
