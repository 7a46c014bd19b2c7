/// One line a result, for spreadsheets. Empty fields are unknown.

#include <cmath>

#include <fmt/format.h>

#include "reporter.hpp"

namespace tessera::compare_app {
namespace {

std::string number(double value) { return std::isnan(value) ? std::string{} : fmt::format("{}", value); }

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"') result += '"';
    result += c;
  }
  return result + '"';
}

std::string errors(const GemmError& error) {
  return fmt::format("{},{},{},{},{},{},{},{},{},{},{},", number(error.total_abs), number(error.max_rel),
                     number(error.mean_rel), number(error.max_over_bound), error.differing_bits, error.rows_compared,
                     number(error.normwise), number(error.componentwise), number(error.row_column),
                     number(error.norm_product), error.misplaced);
}

class CsvReporter final : public Reporter {
 public:
  explicit CsvReporter(std::string target) : target_(std::move(target)) {}

  void add_group(const std::vector<Result>& group) override {
    for (const Result& result : group) add(result);
  }

  void finish() override { write_report(target_, text_); }

 private:
  void add(const Result& result) {
    const TimeSummary time = summarize(result.samples);
    text_ +=
        fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},",
                    result.operation == Operation::Gemm ? "gemm" : "sum_of_squares", backend_name(result),
                    quoted(result.kernel), to_string(result.type), to_string(result.result), to_string(result.math),
                    result.canonical, result.shape.m, result.shape.n, result.shape.k, result.op_a == Op::Transpose,
                    result.op_b == Op::Transpose, result.alpha, result.beta, result.threads);
    text_ += fmt::format("{},{},{},{},{},{},{},{},", number(time.median), number(time.min), number(time.max),
                         number(time.mean), result.samples.size(), number(result.gflops),
                         number(result.ceiling_percent), number(result.speedup));
    if (result.error)
      text_ += errors(*result.error);
    else
      text_ += ",,,,,,,,,,,";
    text_ += fmt::format("{},{}\n", to_string(result.verdict), quoted(result.reason));
  }

  std::string target_;
  std::string text_ =
      "op,backend,kernel,dtype,result,math,canonical,m,n,k,trans_a,trans_b,alpha,beta,threads,median_seconds,min_"
      "seconds,"
      "max_seconds,mean_seconds,samples,gflops,ceiling_percent,speedup,total_abs,max_rel,mean_rel,max_over_bound,"
      "differing_bits,rows_compared,normwise,componentwise,row_column,norm_product,misplaced,verdict,reason\n";
};

} // namespace

std::unique_ptr<Reporter> csv_reporter(const Options& options) { return std::make_unique<CsvReporter>(options.csv); }

} // namespace tessera::compare_app
