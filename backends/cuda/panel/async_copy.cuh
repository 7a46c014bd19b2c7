#pragma once

/// Copies from global to shared memory, a number each, which are under way while the thread goes on.

namespace tessera::cuda {

/// Copies *from to *to, or makes *to 0 where not `is_read`; then `from` is not used, but is a valid address.
template <class T>
__device__ __forceinline__ void copy_async(T* to, const T* from, bool is_read) {
  const unsigned place = static_cast<unsigned>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(place), "l"(from), "n"(sizeof(T)),
               "r"(is_read ? static_cast<int>(sizeof(T)) : 0)
               : "memory");
}

/// Waits for the copies of this thread.
__device__ __forceinline__ void wait_for_copies() { asm volatile("cp.async.wait_all;" ::: "memory"); }

} // namespace tessera::cuda
