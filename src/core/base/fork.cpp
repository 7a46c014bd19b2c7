#include <tessera/backend/fork.hpp>

#include <pthread.h>
#include <condition_variable>
#include <memory>
#include <mutex>

namespace tessera {

/// All observers of the process, and the count of threads that are in an action that must stay whole.
struct ForkObservers {
  std::mutex list_lock;
  ForkObserver* first = nullptr;

  std::mutex actions_lock;
  std::condition_variable action_ended;
  int threads_in_actions = 0;

  void add(ForkObserver& observer) {
    const std::lock_guard lock(list_lock);
    observer.next_ = first;
    first = &observer;
  }
  void remove(ForkObserver& observer) {
    const std::lock_guard lock(list_lock);
    ForkObserver** at = &first;
    while (*at != &observer) at = &(*at)->next_;
    *at = observer.next_;
  }

  void before() noexcept;
  void in_parent() noexcept;
  void in_child() noexcept;
};

namespace {

/// Is never destroyed, because a thread may fork while the process ends.
ForkObservers& observers() {
  static auto* const all = new ForkObservers;
  return *all;
}

/// The actions that this thread is in.
constinit thread_local int actions_here = 0;

/// Registers with the system when libtessera is loaded.
[[maybe_unused]] const int registered = [] {
  static_cast<void>(observers());
  return pthread_atfork([] { observers().before(); }, [] { observers().in_parent(); }, [] { observers().in_child(); });
}();

} // namespace

void ForkObservers::before() noexcept {
  {
    std::unique_lock lock(actions_lock);
    action_ended.wait(lock, [this] { return threads_in_actions == (actions_here > 0 ? 1 : 0); });
    lock.release(); // the fork holds this lock and the next one
  }
  list_lock.lock();
  for (ForkObserver* one = first; one != nullptr; one = one->next_) one->before_fork();
}

void ForkObservers::in_parent() noexcept {
  for (ForkObserver* one = first; one != nullptr; one = one->next_) one->after_fork_in_parent();
  list_lock.unlock();
  actions_lock.unlock();
}

void ForkObservers::in_child() noexcept {
  // A condition variable remembers threads that wait, and in the child there are none.
  std::construct_at(&action_ended);
  for (ForkObserver* one = first; one != nullptr; one = one->next_) one->after_fork_in_child();
  list_lock.unlock();
  actions_lock.unlock();
}

ForkObserver::ForkObserver() { observers().add(*this); }
ForkObserver::~ForkObserver() { observers().remove(*this); }

WholeAcrossFork::WholeAcrossFork() {
  if (actions_here++ > 0) return;
  const std::lock_guard lock(observers().actions_lock);
  ++observers().threads_in_actions;
}

WholeAcrossFork::~WholeAcrossFork() {
  if (--actions_here > 0) return;
  {
    const std::lock_guard lock(observers().actions_lock);
    --observers().threads_in_actions;
  }
  observers().action_ended.notify_all();
}

} // namespace tessera
