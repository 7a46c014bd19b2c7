#include "device_code.hpp"

namespace tessera::cuda {
namespace {

/// Returns the most threads of a block that nothing() allows in this code. Each code allows another number, so that the
/// host can tell which one a device has.
constexpr int threads_of(DeviceCode code) { return 32 * (1 + static_cast<int>(code)); }

constexpr DeviceCode this_code =
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    DeviceCode::Hopper;
#elif __CUDA_ARCH__ >= 800
    DeviceCode::Ampere;
#else
    DeviceCode::Turing;
#endif

__global__ void __launch_bounds__(threads_of(this_code)) nothing() {}

} // namespace

cudaError_t find_device_code(DeviceCode& code) noexcept {
  cudaFuncAttributes attributes{};
  const cudaError_t error = cudaFuncGetAttributes(&attributes, nothing);
  const int threads = attributes.maxThreadsPerBlock;
  code = threads == threads_of(DeviceCode::Hopper)   ? DeviceCode::Hopper
         : threads == threads_of(DeviceCode::Ampere) ? DeviceCode::Ampere
                                                     : DeviceCode::Turing;
  return error;
}

} // namespace tessera::cuda
