/// Loops of the caller's own: a range of indices, cut into tasks for the team; and steps that follow each other.

#include <algorithm>

#include <tessera/detail/floating_point.hpp>

#include "cpu/gemm/common/blocking.hpp"
#include "executor.hpp"

namespace tessera::cpu {
namespace {

constexpr Index tasks_per_thread = 8; ///< so that a worker that began late, or has heavier indices, is helped
constexpr Index line = 16;            ///< a task has a multiple of so many indices where the grain allows it

} // namespace

Status CpuExecutor::run_range(Queue&, const RangeCall& call) noexcept {
  const detail::ContractArithmetic contract;
  if (call.count <= 0) return {};
  const int threads = threads_for(call.threads);
  const Index worth = std::max<Index>(call.count / std::max<Index>(call.grain, 1), 1);
  const Index wanted = std::min(worth, threads * tasks_per_thread);
  Index each = (call.count + wanted - 1) / wanted;
  if (each > line) each = (each + line - 1) / line * line;
  const Index tasks = (call.count + each - 1) / each;
  team().run(tasks, threads,
             [&](Index task, int) { call.body(call.context, task * each, std::min((task + 1) * each, call.count)); });
  return {};
}

void CpuExecutor::run_steps(const StepsCall& call) noexcept {
  if (call.work < enough_to_stay_together) return call.body(call.context);
  team().together(threads_for(call.threads), [&] { call.body(call.context); });
}

} // namespace tessera::cpu
