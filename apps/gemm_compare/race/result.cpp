#include "result.hpp"

#include <algorithm>

#include "plan.hpp"
#include "report/columns/columns.hpp"

namespace tessera::compare_app {

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::Pending:
      return "pending";
    case Verdict::Pass:
      return "pass";
    case Verdict::CannotSay:
      return "cannot say";
    case Verdict::Wrong:
      return "wrong";
    case Verdict::Rejected:
      return "rejected";
    case Verdict::Skipped:
      return "skipped";
    case Verdict::Failed:
      return "failed";
    case Verdict::Interrupted:
      return "interrupted";
    case Verdict::Timed:
      return "timed";
  }
  return "unknown";
}

Result pending_task(const Group& group, const Task& task) {
  Result result;
  result.backend = task.backend;
  result.type = group.type;
  result.m = group.shape.m;
  result.n = group.shape.n;
  result.k = group.shape.k;
  result.threads = task.threads;
  if (task.has_kernel()) {
    result.kernel = task.name();
    result.math = task.math();
  }
  return result;
}

Result pending_product(const Options& options, const Group& group, const Task& task) {
  Result result = pending_task(group, task);
  if (const DType c = options.result_of(group.type); c != group.type) result.result = to_string(c);
  result.trans_a = options.op_a == Op::Transpose;
  result.trans_b = options.op_b == Op::Transpose;
  result.alpha = options.alpha;
  result.beta = options.beta;
  return result;
}

void set_resources(const KernelResources& resources, report::Facts& facts) {
  set_number(facts, "registers", resources.registers);
  set_number(facts, "static_shared", resources.static_shared);
  set_number(facts, "dynamic_shared", resources.dynamic_shared);
  set_number(facts, "local_memory", resources.local_memory);
  set_number(facts, "block_threads", resources.threads);
  set_number(facts, "blocks", resources.blocks);
  set_number(facts, "occupancy", 100 * resources.occupancy);
}

std::string_view backend_name(const Result& result) {
  return result.device.empty() ? to_string(result.backend) : "external";
}

std::string_view type_word(const Result& result) { return name_of({result.type, result.is_complex}); }

std::string_view operation_name(const Result& result) {
  if (result.operation == Operation::System) return result.system;
  return result.operation == Operation::User ? std::string_view(result.kernel) : to_string(result.operation);
}

double operations(const Result& result) {
  if (result.operation == Operation::User || result.operation == Operation::System) return result.flops;
  const double m = static_cast<double>(result.m);
  const double n = static_cast<double>(result.n);
  const double k = static_cast<double>(result.k);
  return 2 * m * n * k;
}

double seconds_of(const Result& result, bool use_mean) {
  const TimeSummary time = summarize(result.samples);
  return use_mean ? time.mean : time.median;
}

void set_speedups(std::vector<Result>& group, bool use_mean) {
  const auto time = [&](const Result& result) { return seconds_of(result, use_mean); };
  double base = 0;
  bool gold = false;
  for (const Result& result : group) {
    if (result.samples.empty() || result.transfer) continue;
    if (!result.device.empty()) continue; // a kernel from outside is no rung
    const bool is_gold = result.backend == Backend::Reference && result.kernel == "gold";
    if (is_gold || (!gold && time(result) > base)) base = time(result);
    gold |= is_gold;
  }
  if (base == 0) return;
  for (Result& result : group)
    if (!result.samples.empty() && !result.transfer && time(result) > 0) result.speedup = base / time(result);
}

} // namespace tessera::compare_app
