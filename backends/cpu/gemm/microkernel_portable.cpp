/// The micro-kernel in plain C++: scalars, or the vectors that the compiler makes of them.
///
/// Where the processor has FMA, a clone of it uses that; elsewhere std::fma is a library call: slow, with the same
/// bits.

#include <cmath>

#include "cpu/gemm/packing.hpp"
#include "reference/fma_clones.hpp"

namespace tessera::cpu {
namespace {

constexpr int tile_m = 4;
constexpr int tile_n = 4;

template <class T>
inline void multiply_tile(int rows, Index k, const T* a, const T* b, T* tile, Index ld) {
  T sum[tile_m][tile_n] = {};
  for (Index p = 0; p < k; ++p)
    for (int r = 0; r < tile_m; ++r)
      for (int c = 0; c < tile_n; ++c) sum[r][c] = std::fma(a[p * tile_m + r], b[p * tile_n + c], sum[r][c]);
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < tile_n; ++c) tile[r * ld + c] = sum[r][c];
}

template <class T>
inline T multiply_sums(Index steps) {
  T sum[tile_m][tile_n] = {};
  T factor{1};
  for (Index p = 0; p < steps; ++p) {
    asm("" : "+m"(factor)); // the compiler must not know that the next product is the last one
    for (auto& row : sum)
      for (T& element : row) element = std::fma(factor, factor, element);
  }
  T total{0};
  for (const auto& row : sum)
    for (const T element : row) total += element;
  return total;
}

// Only functions that are no templates can be cloned.
TESSERA_FMA_CLONES void multiply(int rows, Index k, const float* a, const float* b, float* tile, Index ld) {
  multiply_tile(rows, k, a, b, tile, ld);
}
TESSERA_FMA_CLONES void multiply(int rows, Index k, const double* a, const double* b, double* tile, Index ld) {
  multiply_tile(rows, k, a, b, tile, ld);
}
TESSERA_FMA_CLONES float multiply_registers_f32(Index steps) { return multiply_sums<float>(steps); }
TESSERA_FMA_CLONES double multiply_registers_f64(Index steps) { return multiply_sums<double>(steps); }

struct Portable;

template <class T>
MicroKernel<T> kernel(T (*multiply_registers)(Index)) {
  return {.isa = Isa::Portable,
          .tile_m = tile_m,
          .tile_n = tile_n,
          .multiply = multiply,
          .pack_a = Packing<Portable, T, tile_m>::pack,
          .pack_b = Packing<Portable, T, tile_n>::pack,
          .multiply_registers = multiply_registers};
}

} // namespace

template <>
const MicroKernel<float>& portable_micro_kernel() {
  static const MicroKernel<float> f32 = kernel(multiply_registers_f32);
  return f32;
}
template <>
const MicroKernel<double>& portable_micro_kernel() {
  static const MicroKernel<double> f64 = kernel(multiply_registers_f64);
  return f64;
}

} // namespace tessera::cpu
