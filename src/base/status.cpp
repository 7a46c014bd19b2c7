#include <tessera/status.hpp>

namespace tessera {
namespace {

/// Returns the text of an error. A status that was made for lack of memory may have no text.
std::string explained(StatusCode code, const std::string& why) {
  if (!why.empty()) return why;
  return code == StatusCode::OutOfMemory ? "out of memory" : "no reason was given";
}

} // namespace

Error::Error(StatusCode code, const std::string& why) : std::runtime_error(explained(code, why)), code_(code) {}
Error::~Error() = default;

InvalidArgument::InvalidArgument(const std::string& why) : Error(StatusCode::InvalidArgument, why) {}
InvalidArgument::~InvalidArgument() = default;
KernelRejected::KernelRejected(const std::string& why) : Error(StatusCode::Rejected, why) {}
KernelRejected::~KernelRejected() = default;
BackendUnavailable::BackendUnavailable(const std::string& why) : Error(StatusCode::Unavailable, why) {}
BackendUnavailable::~BackendUnavailable() = default;
OutOfMemory::OutOfMemory(const std::string& why) : Error(StatusCode::OutOfMemory, why) {}
OutOfMemory::~OutOfMemory() = default;
DeviceError::DeviceError(const std::string& why) : Error(StatusCode::DeviceError, why) {}
DeviceError::~DeviceError() = default;
IoError::IoError(const std::string& why) : Error(StatusCode::IoError, why) {}
IoError::~IoError() = default;

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
      throw DeviceError(status.why);
    case StatusCode::IoError:
      throw IoError(status.why);
    case StatusCode::Internal:
      break;
  }
  throw Error(status.code, status.why);
}

} // namespace tessera
