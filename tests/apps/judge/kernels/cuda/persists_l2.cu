// Is honest, but asks the GPU to keep the operands in its second-level cache from call to call. Published: pygpubench,
// pull request 49. It must pass, and be no faster than own_stream.cu: the judge empties the cache before each call.
#include <algorithm>

#include "multiply.cuh"

extern "C" void solve(const float* a, const float* b, float* c, int m, int k, int n) {
  static cudaStream_t stream = nullptr;
  cudaDeviceProp gpu;
  cudaGetDeviceProperties(&gpu, 0);
  if (stream == nullptr) {
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, gpu.persistingL2CacheMaxSize);
  }
  cudaStreamAttrValue window = {};
  window.accessPolicyWindow.base_ptr = const_cast<float*>(b);
  window.accessPolicyWindow.num_bytes = std::min<size_t>(gpu.accessPolicyMaxWindowSize, sizeof(float) * k * n);
  window.accessPolicyWindow.hitRatio = 1;
  window.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
  window.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
  cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &window);
  multiply<<<dim3((n + 63) / 64, m), 64, 0, stream>>>(a, b, c, m, k, n);
}
