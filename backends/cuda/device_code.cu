#include "device_code.hpp"

namespace tessera::cuda {
namespace {

__global__ void nothing() {}

} // namespace

cudaError_t find_device_code() noexcept {
  cudaFuncAttributes attributes{};
  return cudaFuncGetAttributes(&attributes, nothing);
}

} // namespace tessera::cuda
