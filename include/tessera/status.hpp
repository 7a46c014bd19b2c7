#pragma once

/// Describes how errors are reported: a Status crosses the plug-in boundary, and libtessera turns it into an exception
/// for its users.

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <tessera/detail/export.hpp>

namespace tessera {

enum class StatusCode : int {
  Ok = 0,
  InvalidArgument = 1, ///< the caller's mistake: shapes, strides, aliasing, unknown words
  Rejected = 2,        ///< a kernel that was named, or every kernel, does not take this call
  Unavailable = 3,     ///< a backend that cannot be used on this machine
  OutOfMemory = 4,     ///< host or device memory; the call has freed everything that it allocated
  DeviceError = 5,     ///< the device or its driver failed
  IoError = 6,         ///< a file is missing, malformed or cannot be written
  Internal = 7,        ///< a bug in Tessera or in a plug-in
};

/// The outcome of a noexcept call. `why` names the argument and its values, and says what to do about it.
struct [[nodiscard]] Status {
  StatusCode code = StatusCode::Ok;
  std::string why;

  bool ok() const noexcept { return code == StatusCode::Ok; }
  static Status success() noexcept { return {}; }
  static Status failure(StatusCode code, std::string why) { return {code, std::move(why)}; }
};

/// The base of every exception that Tessera throws. There is one class for each code but Internal.
class TESSERA_API Error : public std::runtime_error {
 public:
  Error(StatusCode code, const std::string& why);
  ~Error() override;
  StatusCode code() const noexcept { return code_; }

 protected:
  /// An error without a text of its own, which is made without memory.
  explicit Error(StatusCode code) noexcept;

 private:
  StatusCode code_;
};

class TESSERA_API InvalidArgument : public Error {
 public:
  explicit InvalidArgument(const std::string& why);
  ~InvalidArgument() override;
};
class TESSERA_API KernelRejected : public Error {
 public:
  explicit KernelRejected(const std::string& why);
  ~KernelRejected() override;
};
class TESSERA_API BackendUnavailable : public Error {
 public:
  explicit BackendUnavailable(const std::string& why);
  ~BackendUnavailable() override;
};
/// Its text says what was asked for and how many bytes. It is within the object and cut to its length, because an
/// exception that needed memory could not be thrown where there is none.
class TESSERA_API OutOfMemory : public Error {
 public:
  explicit OutOfMemory(std::string_view why) noexcept;
  ~OutOfMemory() override;
  const char* what() const noexcept override { return text_; }

 private:
  char text_[512];
};
class TESSERA_API DeviceError : public Error {
 public:
  explicit DeviceError(const std::string& why);
  ~DeviceError() override;
};
class TESSERA_API IoError : public Error {
 public:
  explicit IoError(const std::string& why);
  ~IoError() override;
};

/// Throws the exception that matches `status`; returns if it is ok.
TESSERA_API void throw_if_failed(const Status& status);

} // namespace tessera
