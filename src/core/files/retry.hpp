#pragma once

#include <cerrno>

namespace tessera::io {

/// Makes a system call again as long as a signal interrupts it: a program's timer, for example, whose handler was
/// installed without SA_RESTART. It is not for close(): Linux has closed the file even where a signal interrupted the
/// call.
template <class Call>
auto retried(Call&& call) noexcept(noexcept(call())) {
  for (;;)
    if (const auto result = call(); result != -1 || errno != EINTR) return result;
}

} // namespace tessera::io
