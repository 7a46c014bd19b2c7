#pragma once

/// Errors promise that C is as it was. Once a part of C has been written, the error is a DeviceError that says so, and
/// the caller may not try again, because beta would then be applied twice.

#include <exception>
#include <string>

#include <tessera/status.hpp>

namespace tessera::detail {

inline std::string partly_written(std::string why) {
  constexpr std::string_view end = "; parts of C were written already";
  if (!why.ends_with(end)) why += end;
  return why;
}

/// Returns the Status of a failure that came after a part of C was written.
inline Status partly_written(const Status& status) {
  return status.ok() ? status : Status{StatusCode::DeviceError, partly_written(status.why)};
}

/// Runs `action`, which sets `written` once it has written to C. Throws what `action` throws, or a DeviceError once
/// `written` is set.
template <class Action>
void tell_of_parts_written(const bool& written, Action action) try {
  action();
} catch (const std::exception& error) {
  if (!written) throw;
  throw DeviceError(partly_written(std::string(error.what())));
}

} // namespace tessera::detail
