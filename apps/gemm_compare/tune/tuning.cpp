#include "tuning.hpp"

#include <algorithm>
#include <random>

#include <fmt/format.h>

#include <tessera/detail/printable.hpp>
#include <tessera/files.hpp>
#include <tessera/status.hpp>

#include "common/terminal.hpp"

namespace tessera::compare_app {
namespace {

/// A kernel must take less than this times the time of the best kernel above it in the ladder, so that noise does not
/// decide.
constexpr double better = 0.97;
/// A kernel that takes more than `hopeless_factor` times as long as the fastest one, on `hopeless_after` shapes one
/// after the other, is no longer measured.
constexpr double hopeless_factor = 3;
constexpr int hopeless_after = 12;

std::filesystem::path target(const Options& options, const Capabilities& machine) {
  std::filesystem::path path = options.tuning_table;
  if (path.empty()) path = tuning_target(machine);
  if (path.empty())
    throw InvalidArgument("tune: neither XDG_CACHE_HOME nor HOME names a folder; name a file with --table");
  return path;
}

} // namespace

std::vector<GemmShape> tuning_shapes() {
  constexpr double most_operations = 2.0 * 4096 * 4096 * 4096;
  constexpr Index most_elements = Index{1} << 26;
  std::vector<GemmShape> shapes;
  for (const Index m : {1, 4, 16, 64, 256, 1024, 4096})
    for (const Index n : {1, 4, 16, 64, 256, 1024, 4096})
      for (const Index k : {16, 64, 256, 1024, 4096, 16384, 65536})
        if (2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) <= most_operations &&
            (m + n) * k <= most_elements)
          shapes.push_back({m, n, k});
  // The order is random, so that a run that is cut short has measured all kinds of shapes.
  std::shuffle(shapes.begin(), shapes.end(), std::mt19937(1));
  return shapes;
}

Tuning::Tuning(const Options& options, const RacePlan& plan) : budget_(options.tuning_seconds) {
  if (plan.backends.size() != 1) throw InvalidArgument("tune: a table is of one backend; name one with --backend");
  const Capabilities& machine = executor(plan.backends.front()).capabilities();
  path_ = target(options, machine);
  table_.backend = machine.backend;
  table_.device = machine.device;
  table_.revision = machine.kernel_revision;
  std::error_code error; // a path that cannot be looked at is read, too, for the reason
  if (!path_.has_parent_path() || std::filesystem::exists(path_.parent_path(), error))
    check_writable(path_); // before the measurements; a folder that is not there is made at the end
  if (std::filesystem::exists(path_, error) || error) table_ = load_tuning(path_);
  if (table_.backend != machine.backend || table_.device != machine.device)
    throw InvalidArgument(fmt::format("tune: {} is of {} on {}, but this is {} on {}; name another file with --table",
                                      path_.string(), to_string(table_.backend), table_.device,
                                      to_string(machine.backend), machine.device));
  if (table_.revision != machine.kernel_revision)
    throw InvalidArgument(fmt::format(
        "tune: {} is of revision {} of the kernels, but these are of revision {}; delete it, or name another "
        "file with --table",
        path_.string(), table_.revision, machine.kernel_revision));
  table_.driver = machine.driver;
}

bool Tuning::known(const Group& group, Math math) const {
  return std::any_of(table_.products.begin(), table_.products.end(), [&](const TunedProduct& p) {
    return p.type == group.type && p.math == math && GemmShape{.m = p.m, .n = p.n, .k = p.k} == group.shape;
  });
}

bool Tuning::wants(Group& group) {
  std::map<Math, int> rivals;
  const auto may_be_chosen = [](const Task& task) {
    return keeps_contract(*task.gemm, task.executor->gemm_kernels(), task.executor->capabilities());
  };
  for (const Task& task : group.tasks) rivals[task.gemm->math] += may_be_chosen(task);
  std::erase_if(group.tasks, [&](const Task& task) {
    const auto far = far_slower_.find({task.gemm->name, group.type, task.gemm->math});
    return !may_be_chosen(task) || rivals[task.gemm->math] < 2 || known(group, task.gemm->math) ||
           (far != far_slower_.end() && far->second >= hopeless_after);
  });
  if (group.tasks.empty()) return false;
  if (watch_.seconds() < budget_) return true;
  ++left_;
  return false;
}

void Tuning::add(const std::vector<Result>& group) {
  std::map<Math, const Result*> fastest;
  const auto seconds = [](const Result& result) { return seconds_of(result, false); };
  for (auto result = group.rbegin(); result != group.rend(); ++result) { // the preferred kernels are last
    if (result->transfer || result->samples.empty() || result->verdict != Verdict::Pass) continue;
    const Result*& best = fastest[result->math];
    if (best == nullptr || seconds(*result) < better * seconds(*best)) best = &*result;
  }
  for (const Result& result : group) {
    if (result.transfer || result.samples.empty() || !fastest.contains(result.math)) continue;
    int& times = far_slower_[{result.kernel, result.type, result.math}];
    times = seconds(result) > hopeless_factor * seconds(*fastest.at(result.math)) ? times + 1 : 0;
  }
  for (const auto& [math, best] : fastest) {
    table_.products.push_back(
        {best->type, math, best->m, best->n, best->k, detail::printable(best->kernel), seconds(*best)});
    ++added_;
    fmt::print("{} {} {}×{}×{}: {}, {:.4g} µs\n", to_string(best->type), to_string(math), best->m, best->n, best->k,
               detail::printable(best->kernel), seconds(*best) * 1e6);
  }
  apps::flush_stdout();
  if (!fastest.empty()) save_tuning(path_, table_);
}

std::string Tuning::summary() const {
  std::string text = fmt::format("{} products measured, {} in {}\n", added_, table_.products.size(), path_.string());
  if (left_ > 0) text += fmt::format("the time is up; {} shapes are left: the same command goes on\n", left_);
  return text;
}

namespace {

class TuningReporter final : public Reporter {
 public:
  explicit TuningReporter(Tuning& tuning) : tuning_(tuning) {}
  void add_group(const std::vector<Result>& group) override { tuning_.add(group); }
  void finish() override { fmt::print("{}", tuning_.summary()); }

 private:
  Tuning& tuning_;
};

} // namespace

std::unique_ptr<Reporter> tuning_reporter(Tuning& tuning) { return std::make_unique<TuningReporter>(tuning); }

} // namespace tessera::compare_app
