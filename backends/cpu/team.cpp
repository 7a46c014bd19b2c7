#include "team.hpp"

#include <algorithm>

#include <tessera/detail/floating_point.hpp>

namespace tessera::cpu {
namespace {

/// The tasks of a loop, cut into one range of neighbouring tasks for each worker.
class WorkerRanges {
 public:
  WorkerRanges(Index count, int workers) : count_(std::min(workers, most)) {
    for (int i = 0; i < count_; ++i) {
      ranges_[i].next.store(count * i / count_, std::memory_order_relaxed);
      ranges_[i].end = count * (i + 1) / count_;
    }
  }

  /// Runs the tasks of the worker's own range, then the tasks that are left in the other ranges.
  void work(int slot, TaskBody body) {
    const detail::ContractArithmetic contract;
    for (int i = 0; i < count_; ++i) {
      Range& range = ranges_[(slot + i) % count_];
      while (range.next.load(std::memory_order_relaxed) < range.end) {
        const Index task = range.next.fetch_add(1, std::memory_order_relaxed);
        if (task < range.end) body(task, slot);
      }
    }
  }

 private:
  static constexpr int most = 64; // of more workers, some begin with the same range
  struct alignas(64) Range {
    std::atomic<Index> next;
    Index end;
  };
  int count_;
  Range ranges_[most];
};

} // namespace

Team::~Team() = default;

void Team::run(Index count, int threads, TaskBody body) {
  if (count <= 0) return;
  int wanted = static_cast<int>(std::min<Index>(count, threads));
  if (wanted > 1) wanted = limit_here(wanted);
  if (wanted > 1) {
    // The caller's own thread works in any case. The budget limits the helpers that it gets.
    const int before = in_use_.fetch_add(wanted);
    const int got = before == 0 ? wanted : std::clamp(budget_ - before, 1, wanted);
    in_use_.fetch_sub(wanted - got);
    if (got > 1) {
      WorkerRanges ranges(count, got);
      fork(got, [&](int slot) { ranges.work(slot, body); });
      in_use_.fetch_sub(got);
      return;
    }
    in_use_.fetch_sub(got);
  }
  for (Index task = 0; task < count; ++task) body(task, 0);
}

} // namespace tessera::cpu
