#pragma once

/// Numbers that lie side by side in shared memory, and multiply-adds by them.

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

/// Goes on with sums[c] by x·numbers[c], for c = first … size − 1; `first` is known where the code is unrolled.
/// `numbers` is aligned to 16 bytes, of which each load takes all.
template <int size, class T>
__device__ __forceinline__ void extend_sums(int first, T (&sums)[size], T x, const T* numbers) {
  constexpr int width = SharedVector<T>::width;
#pragma unroll
  for (int base = 0; base < size; base += width) {
    if (base + width <= first) continue;
    const auto vector = *reinterpret_cast<const SharedVector<T>*>(numbers + base);
#pragma unroll
    for (int i = 0; i < width; ++i)
      if (base + i >= first) sums[base + i] = fma(vector.number[i], x, sums[base + i]);
  }
}

} // namespace tessera::cuda
