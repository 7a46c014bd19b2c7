#pragma once

/// Copies tiles from global to shared memory by cp.async, without registers in between, while the block computes.
///
/// A line of memory is copied as it is, in vectors of 16 bytes. Where the operand is not aligned, it is copied in
/// single elements. The lanes of a warp take neighbours then, so that a copy touches as few sectors as it can. In f64,
/// tiles of 128 lines are copied faster where each thread takes the neighbours of a vector (docs/lab/random_shapes.md).
///
/// An operand that is stored along k can be transposed: it is then copied in single elements by eight lanes along k, so
/// that whole sectors are read, into rows of shared memory that are padded by one vector, so that the elements of a
/// warp fall into different banks. Before compute capability 8.0 the calls copy synchronously. Source: CUDA C++
/// Programming Guide, "Asynchronous Data Copies".

#include <cuda_pipeline_primitives.h>

#include "tile_loader.cuh"

namespace tessera::cuda {

/// Copies `bytes` bytes from global to shared memory by one cp.async.
struct PipelineCopy {
  template <int bytes>
  static __device__ void copy(void* to, const void* from) {
    __pipeline_memcpy_async(to, from, bytes);
  }
};

/// Copies tiles of outer×depth elements of an operand. In shared memory a tile is [depth][ld], or [outer][ld] for an
/// operand that is stored along k and not transposed. `Copy` copies what is not at an edge.
template <class T, int outer, int depth, int threads, Along along, bool transpose = along == Along::K,
          class Copy = PipelineCopy>
class AsyncTileLoader {
  static constexpr int width = transpose ? 1 : Vector<T>::width;           ///< elements of one copy
  static constexpr int length = along == Along::K ? depth : outer;         ///< elements of a line of memory
  static constexpr int line = transpose ? 8 : length / width;              ///< threads that copy a line together
  static constexpr int step = threads / line;                              ///< lines that the block reads at once
  static constexpr int count = (along == Along::K ? outer : depth) / step; ///< lines that each thread takes part in
  static_assert(threads % line == 0 && length >= line * width && count > 0);
  // Single elements of an operand that is not aligned are copied by these numbers. A thread takes `neighbours`.
  static constexpr int neighbours = sizeof(T) == 8 && outer >= 128 ? width : 1;
  static constexpr int singles_line = neighbours == 1 && length > 32 ? 32 : length / neighbours;
  static constexpr int singles = length / singles_line;
  static constexpr int singles_step = threads / singles_line;
  static constexpr int singles_count = (along == Along::K ? outer : depth) / singles_step;
  static_assert(length % singles_line == 0 && threads % singles_line == 0 && singles_count > 0);
  static_assert(singles_count < 4 || singles_count % 4 == 0);

 public:
  __device__ AsyncTileLoader(const OperandSlice<T>& x, int thread)
      : vectors_(transpose || x.vectors),
        across_(vectors_ ? row_order(thread, line).across * width
                         : row_order(thread, singles_line).across * neighbours),
        down_(vectors_ ? row_order(thread, line).down : row_order(thread, singles_line).down),
        stride_(x.stride),
        k_(x.k),
        outer_left_(x.outer - x.first < outer ? static_cast<int>(x.outer - x.first) : outer),
        padding_(x.padding),
        whole_(vectors_ && x.outer - x.first >= outer),
        next_(x.data +
              (along == Along::K ? (x.first + down_) * x.stride + across_ : x.first + down_ * x.stride + across_)) {}

  /// Starts the copy of the tile that begins at step k0; calls come in ascending order of k0. The caller commits the
  /// copies, waits for them and then meets the other threads at a barrier, which also publishes the padding that the
  /// copy of the last tile stores directly. Rows and columns past C's edge are not written, because no result that
  /// depends on them is stored.
  template <int lines, int ld>
  __device__ void copy(Index k0, T (&tile)[lines][ld]) {
    if (!vectors_) {
      if (k0 + depth > k_)
        copy_last_singles<ld>(static_cast<int>(k_ - k0), address(tile));
      else if (outer_left_ == outer)
        copy_whole_singles(tile);
      else
        copy_ragged_singles<ld>(address(tile));
    } else if (k0 + depth > k_) {
      copy_last<ld>(static_cast<int>(k_ - k0), address(tile));
    } else if (whole_) {
      const T* from = next_;
#pragma unroll
      for (int v = 0; v < count; ++v, to_next_line(from))
#pragma unroll
        for (int e = 0; e < length; e += line * width)
          Copy::template copy<width * sizeof(T)>(&element(tile, v, e), from + e);
    } else {
      copy_ragged<ld>(address(tile));
    }
    next_ += along == Along::K ? depth : depth * stride_;
  }

 private:
  /// Moves `from` by `lines` lines. The empty asm hides the addition from the compiler, which would otherwise keep a
  /// multiple of the stride in a register for each line.
  template <int lines = step>
  __device__ void to_next_line(const T*& from) const {
    from += lines * stride_;
    asm("" : "+l"(from));
  }
  /// Returns the distance from a thread's first element of a line to its element number c, where the operand is not
  /// aligned.
  __device__ static constexpr int offset(int c) { return c / neighbours * singles_line * neighbours + c % neighbours; }
  __device__ static constexpr unsigned bytes_to(int elements) { return elements * static_cast<unsigned>(sizeof(T)); }

  /// Copies a tile of an operand that is not aligned, where all of it exists. There is nothing but the copies, because
  /// the warps that copy would otherwise be the slowest ones.
  template <int lines, int ld>
  __device__ void copy_whole_singles(T (&tile)[lines][ld]) const {
    const T* from = next_;
#pragma unroll
    for (int v = 0; v < singles_count; ++v, to_next_line<singles_step>(from))
#pragma unroll
      for (int c = 0; c < singles; ++c)
        __pipeline_memcpy_async(&tile[down_ + v * singles_step][across_ + offset(c)], from + offset(c), sizeof(T));
  }
  /// Copies such a tile where it reaches over C's edge. A product takes as long as its slowest tile, so this is
  /// unrolled too, as far as registers allow.
  template <int ld>
  __device__ void copy_ragged_singles(unsigned to) const {
    const T* from = next_;
    int left = outer_left_ - (along == Along::K ? down_ : across_);
    constexpr int together = singles_count < 4 || neighbours > 1 ? singles_count : 4;
#pragma unroll 1
    for (int first = 0; first < singles_count; first += together) {
#pragma unroll
      for (int v = 0; v < together; ++v, to_next_line<singles_step>(from))
#pragma unroll
        for (int c = 0; c < singles; ++c)
          if ((along == Along::K ? v * singles_step : offset(c)) < left)
            __pipeline_memcpy_async(__cvta_shared_to_generic(to + bytes_to(v * singles_step * ld + offset(c))),
                                    from + offset(c), sizeof(T));
      to += bytes_to(together * singles_step * ld);
      if (along == Along::K) left -= together * singles_step;
    }
  }
  /// Copies the tile that k ends in, after `k_left` steps, of an operand that is not aligned, and puts padding after
  /// them. The loop is not unrolled, because the warps that copy have few registers.
  template <int ld>
  __device__ void copy_last_singles(int k_left, unsigned to) const {
    const T* from = next_;
    constexpr int end = singles_count * singles_step;
#pragma unroll 1
    for (int at_line = down_; at_line < end; at_line += singles_step, to_next_line<singles_step>(from)) {
#pragma unroll
      for (int c = 0; c < singles; ++c) {
        const int in_line = across_ + offset(c);
        const int p = along == Along::K ? in_line : at_line, i = along == Along::K ? at_line : in_line;
        auto* const element = static_cast<T*>(__cvta_shared_to_generic(to + bytes_to(offset(c))));
        if (p >= k_left)
          pad<1>(element);
        else if (i < outer_left_)
          __pipeline_memcpy_async(element, from + offset(c), sizeof(T));
      }
      to += bytes_to(singles_step * ld);
    }
  }
  /// Copies a tile that reaches over C's edge: the lines that exist if the operand is stored along k, else the elements
  /// of each line that exist, with zeros after them. There are no branches, because the warps that compute have no
  /// cycles to spare.
  template <int ld>
  __device__ void copy_ragged(unsigned first) const {
    int left = outer_left_;
    asm volatile("" : "+r"(left)); // the compiler would keep what it derives from this in registers
    if constexpr (along == Along::K) {
      static_assert(count < 32);
      unsigned there = (1u << max(0, min((left - down_ + step - 1) / step, count))) - 1; // one bit for each line
      asm volatile("" : "+r"(there)); // the bits become predicates together, without a comparison for each
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
  /// Copies the first `bytes` bytes of a 16-byte vector, and zeros for the rest of it.
  __device__ static void copy_bytes(unsigned to, const T* from, int bytes) {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
#else
    __pipeline_memcpy_async(__cvta_shared_to_generic(to), from, 16, 16 - bytes);
#endif
  }
  /// Returns the shared-memory address of this thread's first element. The empty asm hides the computation from the
  /// compiler, which would otherwise repeat it for every element.
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

  /// Copies the tile that k ends in, with padding past the end. Lines along k all end at one place, so that a copy of a
  /// thread is whole, partial or only padding in all of its lines; of the lines along outer, some exist and others do
  /// not.
  template <int ld>
  __device__ void copy_last(int k_left, unsigned first) const {
    constexpr bool along_k = along == Along::K;
    const int lines_left = (along_k ? outer_left_ : k_left) - down_;
#pragma unroll
    for (int e = 0; e < length; e += line * width) {
      // Elements that exist, from this copy's first one on.
      const int inside = (along_k ? k_left : outer_left_) - across_ - e;
      const T* from = next_ + e;
      if (inside >= width) {
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

  bool vectors_;
  int across_, down_;
  Index stride_, k_;
  int outer_left_;
  T padding_;
  bool whole_;
  const T* next_;
};

} // namespace tessera::cuda
