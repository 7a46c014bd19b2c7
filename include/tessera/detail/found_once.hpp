#pragma once

/// What is looked for once and kept for ever, where looking asks the dynamic loader: the functions of a library that is
/// opened at run time. A static variable of a function would not do. Its guard is a lock, and the thread that looks
/// would hold it while it waits for the loader, whose own lock another thread holds in a library's constructor; if that
/// constructor multiplies, it waits for the guard.

#include <atomic>
#include <memory>

#include <tessera/detail/macros_off.hpp>

namespace tessera::detail {

/// Is never destroyed, nor is what was found.
template <class T>
class FoundOnce {
 public:
  /// Returns what was found. `look` returns it as a std::unique_ptr. Several threads may look at once; the first result
  /// stays. What `look` throws is passed on, and the next call looks again.
  template <class Look>
  T& get(Look look) {
    if (T* known = known_.load(std::memory_order_acquire)) return *known;
    std::unique_ptr<T> found = look();
    T* known = nullptr;
    return known_.compare_exchange_strong(known, found.get(), std::memory_order_acq_rel) ? *found.release() : *known;
  }

 private:
  std::atomic<T*> known_ = nullptr;
};

} // namespace tessera::detail

#include <tessera/detail/macros_on.hpp>
