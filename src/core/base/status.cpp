#include <tessera/status.hpp>

#include <new>

#include "cut_text.hpp"
#include "partly_written.hpp"

namespace tessera {
namespace {

/// Returns the text of an error.
std::string explained(const std::string& why) { return why.empty() ? "no reason was given" : why; }

/// The text of a status that was made where there was no memory for one.
constexpr std::string_view no_room_for_a_text =
    "out of memory: there was not even room for a text that says how much was asked for";

/// The base of errors that are made without memory. It is made when the library is loaded; its copies share its text.
const std::runtime_error textless("out of memory");

/// What is thrown where there is no memory for a DeviceError. It must not become an OutOfMemory, which says that
/// nothing was written.
const DeviceError no_room_for_a_device_error(
    "memory was too short for a text that says what failed; parts of C were written already");

} // namespace

Error::Error(StatusCode code, const std::string& why) : std::runtime_error(explained(why)), code_(code) {}
Error::Error(StatusCode code) noexcept : std::runtime_error(textless), code_(code) {}
Error::~Error() = default;

InvalidArgument::InvalidArgument(const std::string& why) : Error(StatusCode::InvalidArgument, why) {}
InvalidArgument::~InvalidArgument() = default;
KernelRejected::KernelRejected(const std::string& why) : Error(StatusCode::Rejected, why) {}
KernelRejected::~KernelRejected() = default;
BackendUnavailable::BackendUnavailable(const std::string& why) : Error(StatusCode::Unavailable, why) {}
BackendUnavailable::~BackendUnavailable() = default;
OutOfMemory::OutOfMemory(std::string_view why) noexcept : Error(StatusCode::OutOfMemory) {
  cut_text(why.empty() ? no_room_for_a_text : why, text_);
}
OutOfMemory::~OutOfMemory() = default;
DeviceError::DeviceError(const std::string& why) : Error(StatusCode::DeviceError, why) {}
DeviceError::~DeviceError() = default;
IoError::IoError(const std::string& why) : Error(StatusCode::IoError, why) {}
IoError::~IoError() = default;
DataCorruption::DataCorruption(const std::string& why, std::int64_t row, std::int64_t col)
    : Error(StatusCode::DataCorruption, why), row_(row), col_(col) {}
DataCorruption::~DataCorruption() = default;

void throw_device_error(const std::string& why) {
  if (why.empty()) throw no_room_for_a_device_error;
  try {
    throw DeviceError(why);
  } catch (const std::bad_alloc&) {
    throw no_room_for_a_device_error;
  }
}

void throw_if_failed(const Status& status) {
  switch (status.code) {
    case StatusCode::Ok:
      return;
    case StatusCode::InvalidArgument:
      throw InvalidArgument(status.why);
    case StatusCode::Rejected:
      throw KernelRejected(status.why);
    case StatusCode::Unavailable:
      throw BackendUnavailable(status.why);
    case StatusCode::OutOfMemory:
      throw OutOfMemory(status.why);
    case StatusCode::DeviceError:
      throw_device_error(status.why);
    case StatusCode::IoError:
      throw IoError(status.why);
    case StatusCode::DataCorruption:
      throw DataCorruption(status.why);
    case StatusCode::Internal:
      break;
  }
  throw Error(status.code, status.why);
}

} // namespace tessera
