#pragma once

/// Memory allocations that fail on purpose. All libraries that this program loads get its malloc, its relatives and its
/// operator new, not the C library's. These functions count, and the n-th allocation fails.
///
/// Source: SQLite's tests of out-of-memory errors.

#include <cstddef>

namespace memory_test {

/// Which allocations fail.
enum class Lasting : bool {
  No,  ///< the n-th one alone: a shortage that passes at once
  Yes, ///< the n-th one and all after it, until disarm()
};

/// The allocations between arm() and disarm().
struct Counted {
  long allocations = 0;  ///< the ones that could fail
  std::size_t bytes = 0; ///< asked for by the first one that failed; 0 if none did
  bool failed = false;
  std::size_t total_bytes = 0; ///< asked for by all allocations that could fail
};

/// Lets the n-th allocation from now on fail, n ≥ 1. Allocations of all threads count, except in
/// libraries that would end the process; see spared_libraries in shortage.cpp.
void arm(long n, Lasting lasting);
Counted disarm();

/// From now on only the allocations count that files make whose names begin so.
void only_in(const char* beginning_of_name);

/// While it lives, this thread's allocations do not count: they are the test's own, in the middle of a call.
class Uncounted {
 public:
  Uncounted();
  ~Uncounted();
  Uncounted(const Uncounted&) = delete;
  Uncounted& operator=(const Uncounted&) = delete;
};

/// Returns the number of blocks that are allocated and not freed, of the whole process. -1 where that is not known,
/// because a sanitizer's allocator is in use; it looks for leaks by itself.
long live_blocks();

/// The allocations of a sanitized program that can fail are only those by operator new, because the sanitizer needs the
/// other functions for itself.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool only_operator_new = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
inline constexpr bool only_operator_new = true;
#else
inline constexpr bool only_operator_new = false;
#endif
#elif defined(__SANITIZE_THREAD__)
inline constexpr bool only_operator_new = true;
#else
inline constexpr bool only_operator_new = false;
#endif

} // namespace memory_test
