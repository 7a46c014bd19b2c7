#pragma once

/// What device code in SPIR-V has of its device: work-items, a barrier, and the functor's bytes. clang compiles it as
/// HIP for SPIR-V, which is C++20 with kernels and with pointers to any memory. Only that compilation reads this file
/// (TESSERA_SPIRV_KERNELS; cmake/tessera_spirv.sh).
///
/// Source: the names of SPIR-V's built-in variables and instructions as llvm-spirv reads them ("SPIR-V friendly IR").

#include <cstddef>

#include <tessera/detail/user_kernel/spirv_names.hpp>
#include <tessera/types.hpp>

#include <tessera/detail/macros_off.hpp>

#define TESSERA_DEVICE __attribute__((device, always_inline)) inline
#define TESSERA_LOCAL_MEMORY static __attribute__((shared))

// SPIR-V's built-in variables and its barrier. An argument names the dimension.
__attribute__((device, const)) std::size_t __spirv_BuiltInGlobalInvocationId(int);
__attribute__((device, const)) std::size_t __spirv_BuiltInLocalInvocationId(int);
__attribute__((device, convergent)) void __spirv_ControlBarrier(int execution, int memory, int semantics);

// What assert() calls. A device has no way to stop with a message, so the work goes on.
extern "C" __attribute__((device)) inline void __assert_fail(const char*, const char*, unsigned, const char*) {}

namespace tessera::detail {

TESSERA_DEVICE Index global_id(int dimension) {
  return static_cast<Index>(__spirv_BuiltInGlobalInvocationId(dimension));
}
TESSERA_DEVICE int local_id(int dimension) { return static_cast<int>(__spirv_BuiltInLocalInvocationId(dimension)); }

/// Waits for all work-items of the group. What they wrote to local memory is then there.
TESSERA_DEVICE void barrier() {
  constexpr int workgroup = 2, sequentially_consistent = 0x10, workgroup_memory = 0x100;
  __spirv_ControlBarrier(workgroup, workgroup, sequentially_consistent | workgroup_memory);
}

/// Returns the array that begins at these bytes of the scratch memory.
template <class T>
TESSERA_DEVICE T* array_at(void* scratch, Index bytes) {
  return reinterpret_cast<T*>(static_cast<char*>(scratch) + bytes);
}

template <class F, int dimensions>
TESSERA_DEVICE void SpirvForEach<F, dimensions>::work(const F& f, void*, Index rows, Index cols, Index, Index, Index) {
  const Index i = global_id(1), j = global_id(0);
  if (i >= rows || j >= cols) return;
  if constexpr (dimensions == 1)
    f(j);
  else
    f(i, j);
}

} // namespace tessera::detail

#include <tessera/detail/macros_on.hpp>
