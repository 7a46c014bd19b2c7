#pragma once

/// Copies from global to shared memory, a number each, which are under way while the thread goes on. Before compute
/// capability 8.0 the thread copies through a register, and there is nothing to wait for.

namespace tessera::cuda {

/// Copies *from to *to, or makes *to 0 where not `is_read`; then `from` is not used, but is a valid address.
template <class T>
__device__ __forceinline__ void copy_async(T* to, const T* from, bool is_read) {
#if __CUDA_ARCH__ >= 800
  const unsigned place = static_cast<unsigned>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(place), "l"(from), "n"(sizeof(T)),
               "r"(is_read ? static_cast<int>(sizeof(T)) : 0)
               : "memory");
#else
  *to = is_read ? *from : T{};
#endif
}

/// Ends a group of copies, which wait_for_groups() counts.
__device__ __forceinline__ void end_group_of_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/// Waits until at most `left` groups of copies of this thread, the last ones, are under way.
template <int left>
__device__ __forceinline__ void wait_for_groups() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(left) : "memory");
#endif
}

/// Waits for the copies of this thread.
__device__ __forceinline__ void wait_for_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

} // namespace tessera::cuda
