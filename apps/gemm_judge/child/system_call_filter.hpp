#pragma once

/// A filter of system calls: Linux asks it before each call, and the calls that no row of the table names are refused.
/// Sources: seccomp(2), Documentation/userspace-api/seccomp_filter.rst in the sources of Linux.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tessera::judge {

/// A question about one argument of a system call, counted from 0: is (argument & mask) == value? Of the arguments in
/// question Linux itself reads 32 bits, but for addresses. `is_null`: is the whole argument 0?
struct ArgumentTest {
  int argument = 0;
  std::uint32_t mask = ~std::uint32_t{0};
  std::uint32_t value = 0;
  bool is_null = false;
};

/// In CallRow::error: the call returns 0, as if it had been done.
inline constexpr int without_effect = -1;

/// What is answered to a system call for whose arguments all tests hold. Of the rows for one call the first that fits
/// decides; if none fits, the answer is EPERM.
struct CallRow {
  long call = 0;
  int error = 0; ///< 0: the call is allowed; without_effect: it is not made, and returns 0
  std::array<ArgumentTest, 2> tests{};
  std::size_t test_count = 0;
};

/// Puts the calling process and all that it starts under a filter that answers as the table says, and refuses what the
/// table does not name: with ENOSYS if the call is newer than Linux 5.0, so that libraries do without it, else with
/// EPERM. Returns whether it is in force. The process must have PR_SET_NO_NEW_PRIVS.
bool filter_system_calls(std::span<const CallRow> table);

} // namespace tessera::judge
