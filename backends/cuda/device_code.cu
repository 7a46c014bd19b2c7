#include "device_code.hpp"

namespace tessera::cuda {
namespace {

// The number of threads that each version allows tells which one a device has got.
constexpr int of_turing = 32, of_ampere = 64, of_hopper = 96;

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
__global__ void __launch_bounds__(of_hopper) nothing() {}
#elif __CUDA_ARCH__ >= 800
__global__ void __launch_bounds__(of_ampere) nothing() {}
#else
__global__ void __launch_bounds__(of_turing) nothing() {}
#endif

} // namespace

cudaError_t find_device_code(DeviceCode& code) noexcept {
  cudaFuncAttributes attributes{};
  const cudaError_t error = cudaFuncGetAttributes(&attributes, nothing);
  const int threads = attributes.maxThreadsPerBlock;
  code = threads == of_hopper ? DeviceCode::Hopper : threads == of_ampere ? DeviceCode::Ampere : DeviceCode::Turing;
  return error;
}

} // namespace tessera::cuda
