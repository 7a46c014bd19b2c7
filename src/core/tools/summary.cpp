/// The tool behind TESSERA_PROFILE=summary: it adds up operations by name, backend and type, and prints a table when
/// the program ends.
///
/// Time on the host is the time of the call. On a device, where the call only enqueues, two events of the device stand
/// around the operation in its queue, and their times are read later, when the queue is long past them.

#include <array>
#include <atomic>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <tessera/backend/fork.hpp>
#include <tessera/detail/floating_point.hpp>
#include <tessera/detail/stopwatch.hpp>
#include <tessera/executor.hpp>
#include <tessera/performance/recording.hpp>

#include "built_in.hpp"
#include "summary_table.hpp"

namespace tessera::tools {
namespace {

/// An operation that this thread is in.
struct Open {
  std::uint64_t id = 0;
  std::optional<measure::HostStopwatch> watch;
  Event* start = nullptr; ///< Owned; it is handed on at the end.
};

constexpr std::size_t deepest = 16; ///< Operations within operations; a deeper one has no time.
constinit thread_local std::array<Open, deepest> open_here{};
constinit thread_local std::size_t depth_here = 0;

class Summary final : private ForkObserver {
 public:
  void begin(const Operation& operation) noexcept {
    if (depth_here < deepest) {
      Open& open = open_here[depth_here];
      open.id = operation.id;
      open.start = record(operation);
      open.watch.emplace();
    }
    ++depth_here;
  }

  void end(const Operation& operation, StatusCode outcome) noexcept try {
    if (depth_here == 0) return; // this thread was in the operation when the tool was registered
    if (--depth_here >= deepest) return;
    Open& open = open_here[depth_here];
    const double seconds = open.watch->seconds();
    std::unique_ptr<Event> start(std::exchange(open.start, nullptr));
    std::unique_ptr<Event> stop(start != nullptr ? record(operation) : nullptr);
    const std::lock_guard lock(mutex_);
    Totals& totals =
        totals_[{operation.parent != 0, operation.kind, operation.name, operation.backend, operation.result}];
    ++totals.calls;
    totals.failed += outcome != StatusCode::Ok;
    totals.host_seconds += seconds;
    totals.bytes += static_cast<double>(operation.bytes);
    totals.operations += operation.operations;
    if (stop == nullptr) return;
    pending_.push_back({std::move(start), std::move(stop), operation.executor, &totals});
    if (pending_.size() >= most_pending) read_times(most_pending / 2);
  } catch (const std::bad_alloc&) {
    lost_.fetch_add(1, std::memory_order_relaxed);
  }

  void print() noexcept try {
    const detail::ContractArithmetic contract;
    const std::lock_guard lock(mutex_);
    read_times(pending_.size());
    std::vector<SummaryEntry> entries;
    for (const auto& [key, totals] : totals_) {
      const auto& [within, kind, name, backend, type] = key;
      entries.push_back({name, kind, backend, type, within, totals});
    }
    std::string text = summary_table(std::move(entries));
    if (const long lost = lost_; lost > 0)
      text += std::to_string(lost) + " operations are not counted, because memory was short\n";
    std::fputs(text.c_str(), stderr);
  } catch (const std::bad_alloc&) {
    std::fputs("tessera: there is no memory for the table of TESSERA_PROFILE=summary\n", stderr);
  }

 private:
  struct Timing {
    std::unique_ptr<Event> start, stop;
    Executor* executor;
    Totals* totals;
  };
  using Key =
      std::tuple<bool, Kind, std::string, std::string, DType>; ///< within another one, kind, name, backend, type

  static constexpr std::size_t most_pending = 4096;

  /// Returns an event that stands in the queue now; null on the host, and where it cannot stand there.
  Event* record(const Operation& operation) noexcept {
    if (operation.queue == nullptr || operation.executor->capabilities().host_memory) return nullptr;
    if (is_being_recorded(*operation.queue)) return nullptr; // the operation runs later, and perhaps often
    std::unique_ptr<Event> event = spare_event(*operation.executor);
    return event != nullptr && event->record(*operation.queue).ok() ? event.release() : nullptr;
  }

  std::unique_ptr<Event> spare_event(Executor& executor) noexcept {
    {
      const std::lock_guard lock(mutex_);
      const auto found = spare_.find(&executor);
      if (found != spare_.end() && !found->second.empty()) {
        std::unique_ptr<Event> event = std::move(found->second.back());
        found->second.pop_back();
        return event;
      }
    }
    std::unique_ptr<Event> made;
    static_cast<void>(executor.create_event(made));
    return made;
  }

  /// Reads the times of the oldest pairs of events, and keeps the events for other operations.
  void read_times(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      Timing& one = pending_[i];
      double seconds = 0;
      if (one.stop->seconds_since(*one.start, seconds).ok()) {
        one.totals->device_seconds += seconds;
        ++one.totals->timed_on_device;
      }
      std::vector<std::unique_ptr<Event>>& spare = spare_[one.executor];
      spare.push_back(std::move(one.start));
      spare.push_back(std::move(one.stop));
    }
    pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(count));
  }

  void before_fork() noexcept override { mutex_.lock(); }
  void after_fork_in_parent() noexcept override { mutex_.unlock(); }
  /// The child counts its own operations. It cannot use the parent's device, so the events are given up.
  void after_fork_in_child() noexcept override {
    for (Timing& one : pending_) static_cast<void>(one.start.release()), static_cast<void>(one.stop.release());
    for (auto& [executor, events] : spare_)
      for (std::unique_ptr<Event>& event : events) static_cast<void>(event.release());
    pending_.clear();
    spare_.clear();
    totals_.clear();
    mutex_.unlock();
  }

  std::mutex mutex_;
  std::map<Key, Totals> totals_;
  std::vector<Timing> pending_;
  std::map<Executor*, std::vector<std::unique_ptr<Event>>> spare_;
  std::atomic<long> lost_ = 0;
};

} // namespace

Tool summary_tool() {
  static auto* const summary = new Summary; // never destroyed: threads may be in its callbacks at exit
  Tool tool;
  tool.name = "summary";
  tool.begin = [](const Operation& operation, void* data) noexcept { static_cast<Summary*>(data)->begin(operation); };
  tool.end = [](const Operation& operation, StatusCode outcome, void* data) noexcept {
    static_cast<Summary*>(data)->end(operation, outcome);
  };
  tool.finish = [](void* data) noexcept { static_cast<Summary*>(data)->print(); };
  tool.data = summary;
  return tool;
}

} // namespace tessera::tools
