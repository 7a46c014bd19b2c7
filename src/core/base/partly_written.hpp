#pragma once

/// Errors promise that C is as it was. Once a part of C has been written, the error is a DeviceError that says so, and
/// the caller may not try again, because beta would then be applied twice.

#include <exception>
#include <new>
#include <string>

#include <tessera/backend/out_of_memory.hpp>
#include <tessera/status.hpp>

namespace tessera {

/// Throws a DeviceError, with a constant text if `why` is empty or there is no memory for it.
[[noreturn]] void throw_device_error(const std::string& why);

namespace detail {

/// Runs `action`, which sets `written` once it has written to C. Throws what `action` throws, or a DeviceError once
/// `written` is set.
template <class Action>
void tell_of_parts_written(const bool& written, Action action) try {
  action();
} catch (const std::bad_alloc& error) {
  if (!written) throw;
  throw_device_error(partly_written(out_of_memory(error)).why);
} catch (const Error& error) {
  if (!written) throw;
  throw_device_error(partly_written(error.code(), error.what()).why);
}

} // namespace detail
} // namespace tessera
