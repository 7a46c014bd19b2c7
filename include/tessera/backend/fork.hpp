#pragma once

/// Keeps a process whole over fork(): the child has only the thread that called fork(), and locks that other threads
/// held are never released there. libtessera and plug-ins use these two classes; programs need neither.

#include <tessera/detail/export.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

/// A long action of one thread that fork() in another thread waits for, because half of it would be of no use to the
/// child: a plug-in is loaded, an executor is made. Such actions may nest. A thread that forks within its own action
/// does not wait for itself.
class TESSERA_API WholeAcrossFork {
 public:
  /// Begins the action. It waits for a fork() that is under way in another thread.
  WholeAcrossFork();
  /// Ends the action, so that fork() may go on.
  ~WholeAcrossFork();
  WholeAcrossFork(const WholeAcrossFork&) = delete;
  WholeAcrossFork& operator=(const WholeAcrossFork&) = delete;
};

/// An object with locks or threads. From construction to destruction, fork() calls its functions in the thread that
/// forks. They must not construct or destroy observers, and must not wait for another observer's lock.
class TESSERA_API ForkObserver {
 public:
  /// Ends the observation: fork() no longer calls this object.
  virtual ~ForkObserver();
  ForkObserver(const ForkObserver&) = delete;
  ForkObserver& operator=(const ForkObserver&) = delete;

 protected:
  /// Begins the observation.
  ForkObserver();

  /// Takes the object's locks, so that the child finds what they guard in order. None may be held for long.
  virtual void before_fork() noexcept {}
  /// Releases the locks in the parent.
  virtual void after_fork_in_parent() noexcept {}
  /// Releases the locks in the child, where all other threads are gone.
  virtual void after_fork_in_child() noexcept {}

 private:
  friend struct ForkObservers;
  ForkObserver* next_ = nullptr;
};

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
