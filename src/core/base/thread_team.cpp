#include "thread_team.hpp"

#include <new>
#include <string>
#include <system_error>
#include <utility>

#include <tessera/backend/log.hpp>
#include <tessera/detail/floating_point.hpp>
#include <tessera/detail/processors.hpp>
#include <tessera/detail/stopwatch.hpp>
#include <tessera/detail/uncancelled.hpp>

namespace tessera::detail {
namespace {

/// A thread looks so many seconds for what it waits for before it sleeps.
constexpr double awake = 5e-3;

template <class Condition>
void look_for(const Condition& condition) {
  const measure::HostStopwatch watch;
  while (!condition() && watch.seconds() < awake) std::this_thread::yield();
}

} // namespace

ThreadTeam::ThreadTeam(std::size_t threads) {
  const Uncancelled whole;
  try {
    threads_.reserve(threads);
    for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
  } catch (const std::system_error& error) {
    if (log_dispatch())
      log_line("the system gave " + std::to_string(threads_.size()) + " of " + std::to_string(threads) +
               " threads: " + error.what());
  } catch (const std::bad_alloc&) { // as if the system had no thread
  }
}

ThreadTeam::~ThreadTeam() {
  const Uncancelled whole; // a join and a wait are cancellation points
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
    ++round_;
    changed_.notify_all();
  }
  for (std::thread& thread : threads_) thread.join();
}

void ThreadTeam::run(std::size_t count, const std::function<void(std::size_t)>& task) {
  const Uncancelled whole;
  const ContractArithmetic contract;
  std::unique_lock lock(mutex_);
  task_ = &task;
  count_ = count;
  next_ = done_ = 0;
  ++round_;
  if (sleeping_ > 0) changed_.notify_all();
  take_tasks(lock);
  wait(lock, [&] { return done_ == count; });
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

/// Waits until the condition, which is true from then on, holds.
template <class Condition>
void ThreadTeam::wait(std::unique_lock<std::mutex>& lock, const Condition& condition) {
  lock.unlock();
  look_for(condition);
  lock.lock();
  ++sleeping_;
  changed_.wait(lock, condition);
  --sleeping_;
}

void ThreadTeam::take_tasks(std::unique_lock<std::mutex>& lock) noexcept {
  while (next_ < count_) {
    const std::size_t number = next_++;
    const auto& task = *task_;
    lock.unlock();
    std::exception_ptr failure;
    try {
      task(number);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    if (failure && !failure_) failure_ = std::move(failure);
    if (++done_ == count_ && sleeping_ > 0) changed_.notify_all();
  }
}

void ThreadTeam::work() noexcept {
  leave_inherited_place();
  const ContractArithmetic contract;
  std::unique_lock lock(mutex_);
  while (!ends_) {
    take_tasks(lock);
    const std::uint64_t seen = round_;
    if (!ends_) wait(lock, [&] { return round_ != seen; });
  }
}

} // namespace tessera::detail
