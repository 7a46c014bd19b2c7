/// The report for programs, {"schema": "tessera.compare/1", "machine": {…}, "results": […]}, and the page and the
/// tables that are made from it. Numbers that are not finite are null.

#include <limits>

#include "common/machine.hpp"
#include "report/html_report.hpp"
#include "report/markdown_report.hpp"
#include "reporter.hpp"

namespace tessera::compare_app {
namespace {

using nlohmann::ordered_json;

ordered_json error_json(const Result& result) {
  if (!result.error) return nullptr;
  const GemmError& error = *result.error;
  return {{"total_abs", error.total_abs},
          {"max_abs", error.max_abs},
          {"max_rel", error.max_rel},
          {"mean_rel", error.mean_rel},
          {"max_over_bound", error.max_over_bound},
          {"differing_bits", error.differing_bits},
          {"misplaced", error.misplaced},
          {"rows", error.rows},
          {"rows_compared", error.rows_compared}};
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
                    {"verdict", to_string(result.verdict)},
                    {"reason", result.reason}};
  if (!result.judged_on.empty()) {
    json["device"] = result.judged_on;
    json["offence"] = result.offence;
  }
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
  }
  if (options.check_rows == std::numeric_limits<Index>::max())
    inputs["check_rows"] = "all";
  else if (options.check_rows > 0)
    inputs["check_rows"] = options.check_rows;
  return inputs;
}

class DocumentReporter final : public Reporter {
 public:
  DocumentReporter(const Options& options, const Plan& plan) : options_(options), backends_(plan.backends) {
    for (const MissingBackend& missing : plan.missing)
      missing_.push_back(
          {{"backend", to_string(missing.backend)}, {"demanded", missing.demanded}, {"reason", missing.reason}});
  }

  void add_group(const std::vector<Result>& group) override {
    for (const Result& result : group) results_.push_back(to_json(result));
  }

  void finish() override {
    const ordered_json document{{"schema", "tessera.compare/1"},   {"command", options_.command},
                                {"inputs", inputs_json(options_)}, {"machine", apps::machine_json(backends_)},
                                {"missing_backends", missing_},    {"results", results_}};
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
  ordered_json missing_ = ordered_json::array();
  ordered_json results_ = ordered_json::array();
};

} // namespace

std::unique_ptr<Reporter> document_reporter(const Options& options, const Plan& plan) {
  return std::make_unique<DocumentReporter>(options, plan);
}

} // namespace tessera::compare_app
