#pragma once

/// What the launches of small systems have in common.

#include "cuda/device/status.hpp"
#include "small_systems.hpp"
#include "systems.cuh"

namespace tessera::cuda {

constexpr Index most_blocks = 0x7fffffff;

/// Asks the driver to give a multiprocessor's memory to shared memory rather than to the cache, so that as many blocks
/// fit as can. By itself the driver may leave room for fewer. The setting is the same at each call.
template <class Kernel>
Status prefer_shared(Kernel* kernel, const char* name) {
  return check_kernel(
      cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared),
      "shared memory instead of cache for ", name);
}

template <class T>
Systems<T> systems_of(const PanelCall& call) {
  const SystemsCall& x = *call.systems;
  return {.task = x.task,
          .m = static_cast<int>(call.rows),
          .n = static_cast<int>(call.cols),
          .columns = x.columns,
          .count = x.count,
          .a = static_cast<T*>(x.a),
          .lda = x.lda,
          .stride_a = x.stride_a,
          .all_a = reinterpret_cast<T* const*>(x.all_a),
          .b = static_cast<T*>(x.b),
          .ldb = x.ldb,
          .stride_b = x.stride_b,
          .all_b = reinterpret_cast<T* const*>(x.all_b),
          .is_upper = x.is_upper,
          .is_transposed = x.is_transposed,
          .is_conjugated = x.is_conjugated,
          .pivots = x.pivots,
          .pivot_stride = x.pivot_stride,
          .info = x.info};
}

} // namespace tessera::cuda
