#pragma once

/// Numbers that lie side by side in shared memory.

namespace tessera::cuda {

/// Numbers of 16 bytes, which one load takes.
template <class T>
struct alignas(16) SharedVector {
  static constexpr int width = 16 / sizeof(T);
  T number[width];
};

/// Reads to[i] = numbers[i], aligned to 16 bytes.
template <int size, class T>
__device__ __forceinline__ void read_vectors(T (&to)[size], const T* numbers) {
  constexpr int width = SharedVector<T>::width;
  static_assert(size % width == 0);
#pragma unroll
  for (int base = 0; base < size; base += width) {
    const auto vector = *reinterpret_cast<const SharedVector<T>*>(numbers + base);
#pragma unroll
    for (int i = 0; i < width; ++i) to[base + i] = vector.number[i];
  }
}

/// Writes numbers[i] = from[i], aligned to 16 bytes.
template <int size, class T>
__device__ __forceinline__ void write_vectors(T* numbers, const T (&from)[size]) {
  constexpr int width = SharedVector<T>::width;
  static_assert(size % width == 0);
#pragma unroll
  for (int base = 0; base < size; base += width) {
    SharedVector<T> vector;
#pragma unroll
    for (int i = 0; i < width; ++i) vector.number[i] = from[base + i];
    *reinterpret_cast<SharedVector<T>*>(numbers + base) = vector;
  }
}

} // namespace tessera::cuda
