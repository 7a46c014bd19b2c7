#include "status.hpp"

#include <new>
#include <string>

namespace tessera::cuda {
namespace {

/// Says whether every CUDA call of this process fails after this error.
bool context_is_lost(cudaError_t error) {
  switch (error) {
    case cudaErrorIllegalAddress:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorHardwareStackError:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorECCUncorrectable:
      return true;
    default:
      return false;
  }
}

} // namespace

Status check(cudaError_t error, const char* what) noexcept try {
  if (error == cudaSuccess) return {};
  static_cast<void>(cudaGetLastError());
  const std::string why = std::string(what) + ": " + cudaGetErrorString(error) + " (" + cudaGetErrorName(error) + ")";
  if (error == cudaErrorMemoryAllocation) return {StatusCode::OutOfMemory, "out of device memory: " + why};
  return {StatusCode::DeviceError,
          why + (context_is_lost(error) ? "; this process cannot use the device any more, start it again" : "")};
} catch (const std::bad_alloc&) {
  return {StatusCode::OutOfMemory, {}};
}

Status check_kernel(cudaError_t error, const char* doing, const char* kernel) noexcept {
  Status status = check(error, kernel);
  if (status.code == StatusCode::DeviceError) try {
      status.why = doing + status.why;
    } catch (const std::bad_alloc&) {
    }
  return status;
}

Status launched(const char* kernel) noexcept { return check_kernel(cudaGetLastError(), "launch of ", kernel); }

} // namespace tessera::cuda
