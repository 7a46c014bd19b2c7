#include "plain_threads.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <algorithm>
#include <new>

#include <tessera/detail/processors.hpp>

#include "active_wait.hpp"
#include "beside.hpp"

namespace tessera::cpu {
namespace {

/// Threads wait actively for so long before they sleep. It is about as long as waking takes.
constexpr double longest_wait = 50e-6; // seconds

} // namespace

/// One run(). It lies on the caller's stack.
struct PlainThreads::Loop {
  BodyReference<int> work;
  int processor;     ///< the caller's, at the beginning
  int slots;         ///< the caller's slot 0 included
  int next_slot = 1; ///< the slot of the next helper
  /// The helpers that are in the loop now. It changes while they hold the lock, and nothing is touched after that.
  std::atomic<int> helpers = 0;
  Loop* next = nullptr;
};

PlainThreads::~PlainThreads() {
  std::unique_lock lock(mutex_);
  stop_ = true;
  wake_.notify_all();
  left_.wait(lock, [this] { return helpers_ == 0; });
}

void PlainThreads::run(int threads, BodyReference<int> work) {
  Loop loop{work, sched_getcpu(), threads};
  std::unique_lock lock(mutex_);
  start_helpers(threads - 1);
  loop.next = loops_;
  loops_ = &loop;
  ++calls_;
  wake_.notify_all();
  lock.unlock();
  work(0);
  lock.lock();
  for (Loop** at = &loops_; *at != nullptr; at = &(*at)->next)
    if (*at == &loop) { // some slots found no helper, whose tasks the others have done
      *at = loop.next;
      break;
    }
  lock.unlock(); // no helper comes any more
  for (ActiveWait wait; loop.helpers != 0; wait.step())
    if (wait.is_longer_than(longest_wait)) {
      lock.lock();
      return left_.wait(lock, [&] { return loop.helpers == 0; });
    }
}

void PlainThreads::lend(int helpers, const std::shared_ptr<ActiveThreads>& active) {
  const std::lock_guard lock(mutex_);
  start_helpers(helpers);
  try {
    lent_.push_back({active, 1, helpers + 1});
  } catch (const std::bad_alloc&) { // the leader works alone
    return;
  }
  ++calls_;
  wake_.notify_all();
}

void PlainThreads::withdraw(const ActiveThreads& active) {
  const std::lock_guard lock(mutex_);
  std::erase_if(lent_, [&](const Lent& lent) { return lent.active.get() == &active; });
}

void PlainThreads::after_fork_in_child() noexcept {
  // The condition variables remember waiting threads, and the loops lie on stacks of threads, which the child does not
  // have.
  std::construct_at(&wake_);
  std::construct_at(&left_);
  loops_ = nullptr;
  lent_.clear();
  helpers_ = 0;
  mutex_.unlock();
}

void* PlainThreads::serve(void* self) {
  static_cast<PlainThreads*>(self)->serve();
  return nullptr;
}

void PlainThreads::serve() {
  detail::leave_inherited_place();
  std::unique_lock lock(mutex_);
  for (;;) {
    wait_for_work(lock);
    if (stop_) break;
    if (loops_ == nullptr) {
      serve_active(lock);
      continue;
    }
    Loop& loop = *loops_;
    const int slot = loop.next_slot++;
    if (loop.next_slot == loop.slots) loops_ = loop.next;
    ++loop.helpers;
    lock.unlock();
    move_beside(loop.processor);
    loop.work(slot);
    lock.lock();
    if (--loop.helpers == 0) left_.notify_all();
  }
  --helpers_;
  left_.notify_all();
}

void PlainThreads::wait_for_work(std::unique_lock<std::mutex>& lock) {
  if (!has_work()) {
    const unsigned known = calls_;
    lock.unlock();
    for (ActiveWait wait; calls_ == known && !wait.is_longer_than(longest_wait);) wait.step();
    lock.lock();
  }
  wake_.wait(lock, [this] { return has_work(); });
}

void PlainThreads::serve_active(std::unique_lock<std::mutex>& lock) {
  Lent& lent = lent_.back();
  const std::shared_ptr<ActiveThreads> active = lent.active;
  const int slot = lent.next_slot++;
  if (lent.next_slot == lent.slots) lent_.pop_back();
  lock.unlock();
  active->help(slot);
  lock.lock();
}

/// Precondition: the caller holds the lock.
void PlainThreads::start_helpers(int wanted) {
  if (helpers_ >= wanted || refusal_.is_recent()) return;
  pthread_attr_t detached;
  if (pthread_attr_init(&detached) != 0) return;
  pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
  pthread_t ignored;
  while (helpers_ < wanted && pthread_create(&ignored, &detached, serve, this) == 0) ++helpers_;
  if (helpers_ < wanted) refusal_.remember();
  pthread_attr_destroy(&detached);
}

namespace {

struct TriedThread {
  pthread_t handle;
  pid_t id = 0;
  std::mutex* until = nullptr;
};

void* wait_for_the_others(void* argument) {
  auto* self = static_cast<TriedThread*>(argument);
  self->id = static_cast<pid_t>(syscall(SYS_gettid));
  const std::lock_guard all_have_started(*self->until);
  return nullptr;
}

} // namespace

bool can_start_threads(int count) {
  const std::unique_ptr<TriedThread[]> tried(new (std::nothrow) TriedThread[static_cast<std::size_t>(count)]);
  if (!tried) return false;
  std::mutex until;
  int started = 0;
  {
    const std::lock_guard others_start(until);
    for (; started < count; ++started) {
      TriedThread& one = tried[static_cast<std::size_t>(started)];
      one.until = &until;
      if (pthread_create(&one.handle, nullptr, wait_for_the_others, &one) != 0) break;
    }
  }
  for (int i = 0; i < started; ++i) {
    const TriedThread& one = tried[static_cast<std::size_t>(i)];
    pthread_join(one.handle, nullptr);
    // The system counts a thread that was joined until it is gone.
    while (syscall(SYS_tgkill, getpid(), one.id, 0) == 0) sched_yield();
  }
  return started == count;
}

} // namespace tessera::cpu
