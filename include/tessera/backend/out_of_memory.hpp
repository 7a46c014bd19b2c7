#pragma once

/// What libtessera and plug-ins do where the host's memory is short. A noexcept function ends with the Status of
/// out_of_memory(); everything else throws std::bad_alloc, which the public functions turn into OutOfMemory. Nothing
/// here needs memory of its own to report that there is none.
///
///     } catch (const std::bad_alloc& error) {
///       return out_of_memory(error);
///     }

#include <cstddef>
#include <new>
#include <string_view>
#include <vector>

#include <tessera/detail/export.hpp>
#include <tessera/status.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

/// Thrown where an allocation of known size fails. Its text says what was asked for and how much.
class TESSERA_API HostMemoryShort : public std::bad_alloc {
 public:
  /// `purpose` ends the text "out of host memory: <bytes> bytes for …".
  HostMemoryShort(const char* purpose, std::size_t bytes) noexcept;
  /// Ends the exception.
  ~HostMemoryShort() override;
  /// Returns the text, which is valid as long as the exception.
  const char* what() const noexcept override { return text_; }

 private:
  char text_[192];
};

/// A list or a text that is not a HostMemoryShort asks for less: allocations that grow with a call's sizes are made by
/// sized_vector(), or throw HostMemoryShort themselves.
inline constexpr std::size_t small_allocation = 65536;

/// Returns the text of an error. It is constant, or lives as long as the error.
TESSERA_API const char* text_of(const std::bad_alloc& error) noexcept;

/// Returns the Status of a failed allocation. Its text is empty where there is no memory for it either.
TESSERA_API Status out_of_memory(const std::bad_alloc& error) noexcept;
/// Returns the Status of a failed allocation of `bytes` bytes for `purpose`. Its text is empty where there is no memory
/// for it either.
TESSERA_API Status out_of_memory(const char* purpose, std::size_t bytes) noexcept;

namespace detail {
/// Return the Status of a failure that came after a part of C was written: a DeviceError that says so. Its text is
/// empty where there is no memory for it.
TESSERA_API Status partly_written(StatusCode code, std::string_view why) noexcept;
inline Status partly_written(const Status& status) noexcept {
  return status.ok() ? Status{} : partly_written(status.code, status.why);
}
} // namespace detail

/// Throws OutOfMemory with the error's text.
[[noreturn]] TESSERA_API void throw_out_of_memory(const std::bad_alloc& error);

/// Returns a vector of `count` zeros. Throws HostMemoryShort.
template <class T>
std::vector<T> sized_vector(std::size_t count, const char* purpose) try {
  return std::vector<T>(count);
} catch (const std::bad_alloc&) {
  throw HostMemoryShort(purpose, count * sizeof(T));
}

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
