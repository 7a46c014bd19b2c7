#pragma once

#include <cerrno>

namespace tessera::io {

/// Makes a system call again as long as a signal interrupts it: a program's timer, for example, whose handler was
/// installed without SA_RESTART. Not for close(), which Linux has done also where it was interrupted.
template <class Call>
auto retried(Call&& call) noexcept(noexcept(call())) {
  for (;;)
    if (const auto result = call(); result != -1 || errno != EINTR) return result;
}

} // namespace tessera::io
