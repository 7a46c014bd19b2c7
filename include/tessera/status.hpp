#pragma once

/// Describes how errors are reported: a Status crosses the plug-in boundary, and libtessera turns it into an exception
/// for its users.

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <tessera/detail/export.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

/// The kinds of failures. The values are part of the plug-in ABI.
enum class StatusCode : int {
  Ok = 0,              ///< the call did what it was asked for
  InvalidArgument = 1, ///< the caller's mistake: shapes, strides, aliasing, unknown words
  Rejected = 2,        ///< a kernel that was named, or every kernel, does not take this call
  Unavailable = 3,     ///< a backend that cannot be used on this machine
  OutOfMemory = 4,     ///< host or device memory; the call has freed everything that it allocated
  DeviceError = 5,     ///< the device or its driver failed
  IoError = 6,         ///< a file is missing, malformed or cannot be written
  Internal = 7,        ///< a bug in Tessera or in a plug-in
  DataCorruption = 8,  ///< a verified product is wrong: the machine computed, kept or moved a number wrongly
};

/// The outcome of a noexcept call. `why` names the argument and its values, and says what to do about it.
struct [[nodiscard]] Status {
  StatusCode code = StatusCode::Ok; ///< the kind of failure, or Ok
  std::string why;                  ///< the text for the user; empty where the code is Ok

  /// Did the call succeed?
  bool ok() const noexcept { return code == StatusCode::Ok; }
  /// Returns the outcome of a call that succeeded.
  static Status success() noexcept { return {}; }
  /// Returns the outcome of a call that failed, with its reason.
  static Status failure(StatusCode code, std::string why) { return {code, std::move(why)}; }
};

/// Another name of Status, for programs that have X11's macro Status.
using CallStatus = Status;

/// The base of every exception that Tessera throws. There is one class for each code but Internal.
class TESSERA_API Error : public std::runtime_error {
 public:
  /// Makes an exception with this code, whose what() is `why`.
  Error(StatusCode code, const std::string& why);
  /// Ends the exception; programs catch it by reference.
  ~Error() override;
  /// Returns the kind of failure.
  StatusCode code() const noexcept { return code_; }

 protected:
  /// An error without a text of its own, which is made without memory.
  explicit Error(StatusCode code) noexcept;

 private:
  StatusCode code_;
};

/// Thrown for a mistake of the caller: shapes, strides, aliasing, unknown words. The text names the argument and its
/// values.
class TESSERA_API InvalidArgument : public Error {
 public:
  /// Makes the exception; `why` becomes its text.
  explicit InvalidArgument(const std::string& why);
  /// Ends the exception.
  ~InvalidArgument() override;
};
/// Thrown where the kernel that was named, or every kernel, does not take the call. The text has the reasons.
class TESSERA_API KernelRejected : public Error {
 public:
  /// Makes the exception; `why` becomes its text.
  explicit KernelRejected(const std::string& why);
  /// Ends the exception.
  ~KernelRejected() override;
};
/// Thrown where the backend that was named cannot be used on this machine. The text says why, and what to do about it.
class TESSERA_API BackendUnavailable : public Error {
 public:
  /// Makes the exception; `why` becomes its text.
  explicit BackendUnavailable(const std::string& why);
  /// Ends the exception.
  ~BackendUnavailable() override;
};
/// Thrown where host or device memory is short. Its text says what was asked for and how many bytes. It is within the
/// object and cut to its length, because an exception that needed memory could not be thrown where there is none.
class TESSERA_API OutOfMemory : public Error {
 public:
  /// Makes the exception; of `why` at most 511 bytes become its text.
  explicit OutOfMemory(std::string_view why) noexcept;
  /// Ends the exception.
  ~OutOfMemory() override;
  /// Returns the text, which is valid as long as the exception.
  const char* what() const noexcept override { return text_; }

 private:
  char text_[512];
};
/// Thrown where a device or its driver failed, or where only a part of the result was written. C is then undefined.
class TESSERA_API DeviceError : public Error {
 public:
  /// Makes the exception; `why` becomes its text.
  explicit DeviceError(const std::string& why);
  /// Ends the exception.
  ~DeviceError() override;
};
/// Thrown where a file is missing, malformed or cannot be written. The text names the file.
class TESSERA_API IoError : public Error {
 public:
  /// Makes the exception; `why` becomes its text.
  explicit IoError(const std::string& why);
  /// Ends the exception.
  ~IoError() override;
};

/// Thrown where a product that verifies itself (GemmOptions::verify) found a wrong element, which it was not to repair
/// or could not. The text names the elements. C is then undefined.
class TESSERA_API DataCorruption : public Error {
 public:
  /// Makes the exception; `why` becomes its text. `row` and `col` are the place of the worst element of C.
  explicit DataCorruption(const std::string& why, std::int64_t row = -1, std::int64_t col = -1);
  /// Ends the exception.
  ~DataCorruption() override;
  /// Returns the row of the worst element of C; −1 where no element is known.
  std::int64_t row() const noexcept { return row_; }
  /// Returns the column of that element; −1 where no element is known.
  std::int64_t col() const noexcept { return col_; }

 private:
  std::int64_t row_, col_;
};

/// Throws the exception that matches `status`; returns if it is ok.
TESSERA_API void throw_if_failed(const Status& status);

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
