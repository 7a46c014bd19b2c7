#pragma once

/// Marks what a thread runs that may lead back into the library: the code of a library that is being loaded (its
/// constructors, its entry point), or of a plug-in that makes an executor. Such code runs on the thread that asked for
/// it, below whatever lock that thread holds. A place that would wait for this thread itself asks here first.

#include <string>

namespace tessera {

/// While an object of this class lives, its thread is within the action `what`, an address that names it.
class Reentry {
 public:
  explicit Reentry(const void* what) noexcept;
  ~Reentry();
  Reentry(const Reentry&) = delete;
  Reentry& operator=(const Reentry&) = delete;

  /// Is this thread within the action?
  static bool is_within(const void* what) noexcept;
  /// Throws BackendUnavailable if this thread is within the action: `name` says what is being loaded.
  static void refuse(const void* what, const std::string& name);

 private:
  const void* const what_;
  const Reentry* const outer_;
};

} // namespace tessera
