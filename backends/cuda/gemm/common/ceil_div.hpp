#pragma once

#include <cuda_runtime_api.h>

namespace tessera::cuda {

template <class I>
constexpr __host__ __device__ I ceil_div(I x, I y) {
  return (x + y - 1) / y;
}

} // namespace tessera::cuda
