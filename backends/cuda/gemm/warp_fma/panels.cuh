#pragma once

/// Panels of operands in shared memory for FMAs: how they lie there, and where a lane finds its elements.

#include <type_traits>

#include "cuda/gemm/common/panel_ring/copies.cuh"
#include "cuda/gemm/common/shared_layout.hpp"
#include "plan.hpp"

namespace tessera::cuda::warp_fma {

#if __CUDA_ARCH__ >= 800

/// How a panel of `rows_` rows (of A; columns of B) lies in shared memory (panel_ring::PanelCopies). Past the end of k
/// A has −0 and B has +0, whose products change no sum.
template <class T, int rows_, Along along_, bool of_a>
struct PanelLayout {
  static constexpr Along along = along_;
  static constexpr bool shifted = false, negative_padding = of_a;
  static constexpr int rows = rows_, size = sizeof(T), depth = warp_fma::depth, least_chunk = size;
  static constexpr int data = (along == Along::K ? depth : rows) * size;
  static constexpr int line = data + (along == Along::K ? 16 : 0); ///< eight lines have a vector in different banks
  static constexpr int lines = along == Along::K ? rows : depth, boxes = 1, wide = data / size;

  static constexpr __device__ int swizzle(int) { return 0; }
  static constexpr __device__ int place(int l, int byte) { return l * line + byte; }
};

/// The elements of an operand that a lane multiplies: `each` rows (of A; columns of B), and a vector of 16 bytes along
/// k. `lanes`: lanes that have different rows.
template <class Layout, int each, int lanes>
class LaneRows {
  using T = std::conditional_t<Layout::size == 4, float, double>;
  static constexpr Along along = Layout::along;
  static constexpr int length = 16 / Layout::size;                                   ///< of a vector
  static constexpr int wide = along == Along::K ? 1 : each < length ? each : length; ///< rows that are neighbours

 public:
  /// The warp's rows begin at `first`; the lane is number `lane` of `lanes`.
  __device__ LaneRows(int first, int lane) : row_(first + lane * wide) {}

  /// Returns row i, counted from the tile's first one.
  __device__ int row(int i) const { return row_ + i / wide * lanes * wide + i % wide; }
  /// Reads vector v along k; `panel` is the panel's address in shared memory.
  __device__ void read(unsigned panel, int v, T (&to)[each][length]) const {
    if constexpr (along == Along::K) {
      const unsigned at = panel + row_ * Layout::line + v * 16;
#pragma unroll
      for (int i = 0; i < each; ++i) load<length>(at + i * lanes * Layout::line, to[i]);
    } else {
      const unsigned at = panel + row_ * Layout::size + v * length * Layout::line;
#pragma unroll
      for (int p = 0; p < length; ++p)
#pragma unroll
        for (int i = 0; i < each; i += wide) {
          T x[wide];
          load<wide>(at + p * Layout::line + i * lanes * Layout::size, x);
#pragma unroll
          for (int e = 0; e < wide; ++e) to[i + e][p] = x[e];
        }
    }
  }

 private:
  template <int count>
  __device__ static void load(unsigned from, T (&to)[count]) {
    if constexpr (sizeof(T) == 8 && count == 2)
      asm volatile("ld.shared.v2.f64 {%0, %1}, [%2];" : "=d"(to[0]), "=d"(to[1]) : "r"(from));
    else if constexpr (sizeof(T) == 8)
      asm volatile("ld.shared.f64 %0, [%1];" : "=d"(to[0]) : "r"(from));
    else if constexpr (count == 1)
      asm volatile("ld.shared.f32 %0, [%1];" : "=f"(to[0]) : "r"(from));
    else if constexpr (count == 4)
      asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                   : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3])
                   : "r"(from));
    else
      asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(to[0]), "=f"(to[1]) : "r"(from));
  }

  int row_;
};

#endif

} // namespace tessera::cuda::warp_fma
