#pragma once

/// Multiply-adds by numbers that lie side by side in shared memory.

namespace tessera::cuda {

/// Goes on with sums[c] by x·numbers[c], for c = first … size − 1; `first` is known where the code is unrolled.
/// `numbers` is aligned to 16 bytes, of which each load takes all.
template <int size, class T>
__device__ __forceinline__ void extend_sums(int first, T (&sums)[size], T x, const T* numbers) {
  constexpr int width = 16 / sizeof(T);
  struct alignas(16) Vector {
    T number[width];
  };
#pragma unroll
  for (int base = 0; base < size; base += width) {
    if (base + width <= first) continue;
    const Vector vector = *reinterpret_cast<const Vector*>(numbers + base);
#pragma unroll
    for (int i = 0; i < width; ++i)
      if (base + i >= first) sums[base + i] = fma(vector.number[i], x, sums[base + i]);
  }
}

} // namespace tessera::cuda
