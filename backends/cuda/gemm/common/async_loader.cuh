#pragma once

/// TileLoader's twin for cp.async: from global to shared memory without registers in between, while the block computes.
///
/// Lines of memory are copied as they are, in 16-byte vectors, or in single elements where these are not aligned; or an
/// operand stored along k is transposed by copying single elements: eight lanes along k, so that whole sectors are
/// read, into rows of shared memory padded by one vector, so that a warp's elements fall into different banks. Before
/// compute capability 8.0 the same calls copy at once. CUDA C++ Programming Guide, "Asynchronous Data Copies".

#include <cuda_pipeline_primitives.h>

#include "tile_loader.cuh"

namespace tessera::cuda {

/// The tile is [depth][ld] in shared memory, or [outer][ld] for an operand along k that is not transposed.
template <class T, int outer, int depth, int threads, Along along, bool transpose = along == Along::K>
class AsyncTileLoader {
  static constexpr int width = transpose ? 1 : Vector<T>::width;           ///< elements a copy
  static constexpr int length = along == Along::K ? depth : outer;         ///< elements side by side in memory
  static constexpr int line = transpose ? 8 : length / width;              ///< copies of them that go together
  static constexpr int copies = length / (line * width);                   ///< of a line of memory
  static constexpr int step = threads / line;                              ///< lines that the block reads at once
  static constexpr int count = (along == Along::K ? outer : depth) / step; ///< lines a thread
  static_assert(threads % line == 0 && copies > 0 && count > 0);

 public:
  __device__ AsyncTileLoader(const OperandSlice<T>& x, int thread)
      : across_(row_order(thread, line).across * width),
        down_(row_order(thread, line).down),
        stride_(x.stride),
        k_(x.k),
        outer_left_(x.outer - x.first < outer ? static_cast<int>(x.outer - x.first) : outer),
        padding_(x.padding),
        vectors_(transpose || x.vectors),
        whole_(vectors_ && x.outer - x.first >= outer),
        next_(x.data +
              (along == Along::K ? (x.first + down_) * x.stride + across_ : x.first + down_ * x.stride + across_)) {}

  /// Starts the copy of the tile at k0; tiles come in order. The caller commits, waits, and then meets the other
  /// threads at a barrier, which also publishes the padding that the last tile stored directly. Rows and columns past
  /// C's edge are left as they are: nobody stores what comes of them.
  template <int lines, int ld>
  __device__ void copy(Index k0, T (&tile)[lines][ld]) {
    if (k0 + depth > k_) {
      copy_last<ld>(static_cast<int>(k_ - k0), address(tile));
    } else if (whole_) {
      const T* from = next_;
#pragma unroll
      for (int v = 0; v < count; ++v, to_next_line(from))
#pragma unroll
        for (int e = 0; e < length; e += line * width)
          __pipeline_memcpy_async(&element(tile, v, e), from + e, width * sizeof(T));
    } else if (vectors_) {
      copy_ragged<ld>(address(tile));
    } else {
      const T* from = next_;
#pragma unroll
      for (int v = 0; v < count; ++v, to_next_line(from))
#pragma unroll
        for (int c = 0; c < copies * width; ++c)
          if (along == Along::K ? down_ + v * step < outer_left_ : across_ + offset(c) < outer_left_)
            __pipeline_memcpy_async(&element(tile, v, offset(c)), from + offset(c), sizeof(T));
    }
    next_ += along == Along::K ? depth : depth * stride_;
  }

 private:
  /// The compiler is kept from seeing through it: it would have a multiple of the stride ready for each line.
  __device__ void to_next_line(const T*& from) const {
    from += step * stride_;
    asm("" : "+l"(from));
  }
  /// What is C's concern of a tile that reaches over its edge: whole lines along k, or so much of each along outer,
  /// with zeros behind it. Without branches: those who compute have no cycles to give.
  template <int ld>
  __device__ void copy_ragged(unsigned first) const {
    int left = outer_left_;
    asm volatile("" : "+r"(left)); // what follows from it is not worth registers
    if constexpr (along == Along::K) {
      static_assert(count < 32);
      unsigned there = (1u << max(0, min((left - down_ + step - 1) / step, count))) - 1; // a bit a line
      asm volatile("" : "+r"(there)); // not compared with each, but made predicates together
      const T* from = next_;
#pragma unroll
      for (int v = 0; v < count; ++v, to_next_line(from))
        if ((there & 1u << v) != 0)
#pragma unroll
          for (int e = 0; e < length; e += line * width)
            __pipeline_memcpy_async(element<ld>(first, v, e), from + e, width * sizeof(T));
    } else {
#pragma unroll
      for (int e = 0; e < length; e += line * width) {
        const T* from = next_ + e;
        const int bytes = max(0, min(width, left - across_ - e)) * static_cast<int>(sizeof(T));
#pragma unroll
        for (int v = 0; v < count; ++v, to_next_line(from)) copy_bytes(place<ld>(first, v, e), from, bytes);
      }
    }
  }
  /// The first bytes of a vector, and zeros.
  __device__ static void copy_bytes(unsigned to, const T* from, int bytes) {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
#else
    __pipeline_memcpy_async(__cvta_shared_to_generic(to), from, 16, 16 - bytes);
#endif
  }
  /// Element c of this thread's, from its first one on in a line.
  __device__ static constexpr int offset(int c) { return c / width * line * width + c % width; }

  /// Of this thread's first element. Kept from the compiler, which would find it anew for every element.
  template <int lines, int ld>
  __device__ unsigned address(T (&tile)[lines][ld]) const {
    auto first = static_cast<unsigned>(__cvta_generic_to_shared(&element(tile, 0, 0)));
    asm("" : "+r"(first));
    return first;
  }
  template <int ld>
  __device__ static unsigned place(unsigned first, int v, int e) {
    const int offset = transpose ? e * ld + v * step : v * step * ld + e;
    return first + offset * static_cast<unsigned>(sizeof(T));
  }
  template <int ld>
  __device__ static T* element(unsigned first, int v, int e) {
    return static_cast<T*>(__cvta_shared_to_generic(place<ld>(first, v, e)));
  }
  template <int lines, int ld>
  __device__ T& element(T (&tile)[lines][ld], int v, int e) const {
    return transpose ? tile[across_ + e][down_ + v * step] : tile[down_ + v * step][across_ + e];
  }

  /// The tile that k ends in, with padding past the end. Lines along k end at the same place, so that a thread's copies
  /// are whole, parts, or nothing but padding in all of them; of lines along outer some are there and some are not.
  template <int ld>
  __device__ void copy_last(int k_left, unsigned first) const {
    constexpr bool along_k = along == Along::K;
    const int lines_left = (along_k ? outer_left_ : k_left) - down_;
#pragma unroll
    for (int e = 0; e < length; e += line * width) {
      const int inside = (along_k ? k_left : outer_left_) - across_ - e; // elements, from this copy's first one on
      const T* from = next_ + e;
      if (vectors_ && inside >= width) {
#pragma unroll
        for (int v = 0; v < count; ++v, to_next_line(from))
          if (v * step < lines_left)
            __pipeline_memcpy_async(element<ld>(first, v, e), from, width * sizeof(T));
          else if (!along_k)
            pad<width>(element<ld>(first, v, e));
      } else if (along_k && inside <= 0) {
#pragma unroll
        for (int v = 0; v < count; ++v) pad<width>(element<ld>(first, v, e));
      } else {
#pragma unroll
        for (int v = 0; v < count; ++v, to_next_line(from))
#pragma unroll
          for (int c = 0; c < width; ++c)
            if (c < inside && v * step < lines_left)
              __pipeline_memcpy_async(element<ld>(first, v, e + c), from + c, sizeof(T));
            else
              pad<1>(element<ld>(first, v, e + c));
      }
    }
  }
  template <int elements>
  __device__ void pad(T* to) const {
    Neighbours<T, elements> padding;
#pragma unroll
    for (int e = 0; e < elements; ++e) padding.element[e] = padding_;
    *reinterpret_cast<Neighbours<T, elements>*>(to) = padding;
  }

  int across_, down_;
  Index stride_, k_;
  int outer_left_;
  T padding_;
  bool vectors_, whole_;
  const T* next_;
};

} // namespace tessera::cuda
