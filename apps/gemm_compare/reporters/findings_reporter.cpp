/// Says in words what a run has found, after everything else: the fastest strict entry of each backend, how many
/// entries were within their bound and had the contract's bits, and what did not run.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>

#include <fmt/format.h>

#include <tessera/detail/printable.hpp>

#include "common/terminal.hpp"
#include "common/words.hpp"
#include "report/format.hpp"
#include "reporter.hpp"
#include "table_notes.hpp"

namespace tessera::compare_app {
namespace {

std::string product_of(const Result& result) {
  if (result.operation == Operation::SumOfSquares) return fmt::format("length {}", result.n);
  if (result.operation == Operation::User) return report::sizes_text(result);
  if (result.operation == Operation::System) return fmt::format("n = {}", result.n);
  return fmt::format("{}×{}×{}", result.m, result.n, result.k);
}

std::string speed_of(const Result& result, bool with_threads) {
  std::string text = result.kernel;
  if (with_threads && result.threads > 0)
    text += fmt::format(" with {} thread{}", result.threads, result.threads == 1 ? "" : "s");
  text += fmt::format(", {:.2f} {}", result.speed(), result.speed_unit());
  if (result.bandwidth > 0 && result.gflops > 0) text += fmt::format(", {:.2f} GFLOP/s", result.gflops);
  if (!std::isnan(result.ceiling_percent)) text += fmt::format(", {:.1f} % of the peak", result.ceiling_percent);
  return text + " at " + product_of(result);
}

/// The fastest strict entries of one backend and type that passed.
struct Fastest {
  std::string backend, type;
  std::optional<Result> overall, canonical;
};

class FindingsReporter final : public Reporter {
 public:
  FindingsReporter(const Options& options, const RacePlan& plan)
      : width_(table_width(options)),
        threads_(options.threads.size() > 1),
        missing_(plan.missing),
        models_(left_out_line(plan)) {}

  void add_group(const std::vector<Result>& group) override {
    for (const Result& result : group) {
      if (is_left_out(result)) {
        left_out_.add(result);
        continue;
      }
      if (result.transfer) continue;
      any_contract_ |= result.canonical;
      if (result.verdict == Verdict::Pass)
        add_speed(result);
      else
        (result.verdict == Verdict::CannotSay ? unknown_speed_ : failing_)
            .push_back(fmt::format("{} {} ({}) at {}", backend_name(result), result.kernel, to_string(result.verdict),
                                   product_of(result)));
      if (!result.error) continue;
      ++checked_;
      within_ += result.error->within_bound() ? 1 : 0;
      same_bits_ += result.error->differing_bits == 0 ? 1 : 0;
    }
  }

  void finish() override {
    fmt::print("\n{}\n", apps::styled("Found", apps::Style::Bold, apps::shows_colour(stdout)));
    for (const Fastest& fastest : fastest_) print(speed_line(fastest));
    if (checked_ > 0)
      print(fmt::format("errors: {} of {} checked entries are within their bound, and {} have the contract's bits",
                        within_, checked_, same_bits_));
    if (any_contract_) print("≡ marks kernels that keep the contract of their mode: the same bits on every backend");
    if (!failing_.empty()) print("not right: " + apps::joined(failing_, ", "));
    if (!unknown_speed_.empty()) print("right, on a busy machine: " + apps::joined(unknown_speed_, ", "));
    for (const std::string& line : left_out_.lines()) print(line);
    if (!models_.empty()) print(models_);
    for (const MissingBackend& missing : missing_) print("not run: " + missing.reason);
    apps::flush_stdout();
  }

 private:
  std::string speed_line(const Fastest& fastest) const {
    const bool is_operation = fastest.overall->operation == Operation::User;
    std::string line = fmt::format("{} {}: the fastest {} is {}", fastest.backend, fastest.type,
                                   is_operation ? "run" : "strict kernel", speed_of(*fastest.overall, threads_));
    if (fastest.overall->canonical || is_operation) return line;
    if (!fastest.canonical) return line + "; none that ran has the contract's order";
    return line + "; the fastest of the contract's order is " + speed_of(*fastest.canonical, threads_);
  }

  void add_speed(const Result& result) {
    if (result.math != Math::Strict || !(result.speed() > 0)) return;
    const std::string backend(backend_name(result));
    std::string type(type_word(result));
    if (result.operation == Operation::User) type += " " + result.kernel;
    if (result.operation == Operation::System) type += " " + std::string(result.system);
    auto at = std::find_if(fastest_.begin(), fastest_.end(),
                           [&](const Fastest& other) { return other.backend == backend && other.type == type; });
    if (at == fastest_.end()) at = fastest_.insert(at, Fastest{backend, type, {}, {}});
    if (!at->overall || result.speed() > at->overall->speed()) at->overall = result;
    if (result.canonical && (!at->canonical || result.speed() > at->canonical->speed())) at->canonical = result;
  }

  void print(std::string line) const {
    std::replace(line.begin(), line.end(), '\n', ' '); // of reasons with several lines
    fmt::print("{}\n", apps::wrapped("  " + detail::printable(line), width_, 4));
  }

  const std::size_t width_; ///< 0: no limit
  const bool threads_;      ///< entries differ in their number of threads
  const std::vector<MissingBackend> missing_;
  const std::string models_; ///< the line on models that were left out
  std::vector<Fastest> fastest_;
  TableNotes left_out_;
  std::vector<std::string> failing_, unknown_speed_;
  bool any_contract_ = false; ///< some entry has a kernel that keeps the contract of its mode
  int checked_ = 0, within_ = 0, same_bits_ = 0;
};

} // namespace

std::unique_ptr<Reporter> findings_reporter(const Options& options, const RacePlan& plan) {
  return std::make_unique<FindingsReporter>(options, plan);
}

} // namespace tessera::compare_app
