#pragma once

/// Runs an entry point of the library once for each allocation that it makes, which fails.

#include <cstddef>
#include <functional>
#include <string>

#include "shortage.hpp"

namespace memory_test {

/// An entry point and what it writes.
struct EntryPoint {
  std::string name;
  /// Makes what the call writes as it is before a call.
  std::function<void()> reset;
  /// Calls the library. Throws what the library throws; a wrapper of a C function throws for its status.
  std::function<void()> call;
  /// Returns the bytes that the call has written, or a text that says what it has found.
  std::function<std::string()> result;
  /// What a process has done before its first trial; see check_first_use().
  std::function<void()> warm_up = {};
  /// An error may leave the result in an undefined state, if its text says "parts of C were written already".
  bool may_write_parts = false;
};

/// Checks that the call survives each failing allocation: it does its work, or throws OutOfMemory with a text that says
/// how much was asked for and leaves the result as it was. The next call must do its work, with equal bits. Nothing
/// may leak. The checks are Boost.Test's. The check fails where no allocation could fail.

/// Each trial is in a process of its own, which has done nothing but warm_up(). So the trial is the first use of the
/// library, or the first one that needs memory of this size, which kernels keep.
void check_first_use(const EntryPoint& entry);
/// All trials are in one process, which has used the entry point before.
void check_later_use(const EntryPoint& entry);

} // namespace memory_test
