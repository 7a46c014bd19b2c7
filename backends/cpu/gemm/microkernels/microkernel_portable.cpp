/// The micro-kernel in plain C++: scalars, or the vectors that the compiler makes of them.
///
/// On processors with FMA a clone of it runs that uses the instruction. Elsewhere std::fma is a library call, which is
/// slow and gives the same bits.

#include <cmath>

#include "packing.hpp"
#include "reference/fma_clones.hpp"

namespace tessera::cpu {
namespace {

// Twelve sums, three elements of B and one of A take sixteen registers, which is all that x86-64 has. A tile of 4×4
// spills (docs/lab/cpu_gemm.md).
constexpr int tile_m = 4;
constexpr int tile_n = 3;

template <class T>
[[gnu::always_inline]] inline T stored(const TileStore<T>& to, T sum, const T& old) {
  if (to.adds) sum = old + sum;
  if (!to.is_scaled) return sum;
  sum *= to.alpha;
  return to.beta == T{0} ? sum : std::fma(to.beta, old, sum);
}

template <class T>
inline void multiply_tile(int rows, Index k, const T* a, const T* b, T* tile, Index ld,
                          const TileStore<T>& store = {}) {
  T sum[tile_m][tile_n] = {};
  for (Index p = 0; p < k; ++p)
    for (int r = 0; r < tile_m; ++r)
      for (int c = 0; c < tile_n; ++c) sum[r][c] = std::fma(a[p * tile_m + r], b[p * tile_n + c], sum[r][c]);
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < tile_n; ++c) tile[r * ld + c] = stored(store, sum[r][c], tile[r * ld + c]);
}

// Only functions that are not templates can be cloned.
TESSERA_FMA_CLONES void multiply(int rows, Index k, const float* a, const float* b, float* tile, Index ld,
                                 const TileStore<float>& store, const float*) {
  multiply_tile(rows, k, a, b, tile, ld, store);
}
TESSERA_FMA_CLONES void multiply(int rows, Index k, const double* a, const double* b, double* tile, Index ld,
                                 const TileStore<double>& store, const double*) {
  multiply_tile(rows, k, a, b, tile, ld, store);
}
template <class T>
inline void store_tile(int rows, int cols, const T* sums, Index ld_sums, T* c, Index ldc, const TileStore<T>& to) {
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < cols; ++j) c[i * ldc + j] = stored(to, sums[i * ld_sums + j], c[i * ldc + j]);
}
TESSERA_FMA_CLONES void store(int rows, int cols, const float* sums, Index ld_sums, float* c, Index ldc,
                              const TileStore<float>& to) {
  store_tile(rows, cols, sums, ld_sums, c, ldc, to);
}
TESSERA_FMA_CLONES void store(int rows, int cols, const double* sums, Index ld_sums, double* c, Index ldc,
                              const TileStore<double>& to) {
  store_tile(rows, cols, sums, ld_sums, c, ldc, to);
}
template <class T>
inline void solve_tile(Index k, const T* a, T* b) {
  T sum[tile_m][tile_n];
  multiply_tile(tile_m, k, a, b, &sum[0][0], tile_n);
  const T* const t = a + k * tile_m;
  T* const x = b + k * tile_n;
  for (int i = 0; i < tile_m; ++i)
    for (int c = 0; c < tile_n; ++c) {
      T s = sum[i][c];
      for (int p = 0; p < i; ++p) s = std::fma(t[p * tile_m + i], x[p * tile_n + c], s);
      x[i * tile_n + c] = (x[i * tile_n + c] - s) / t[i * tile_m + i];
    }
}
template <class T>
inline void multiply_lower_tile(Index k, const T* a, T* b) {
  T sum[tile_m][tile_n];
  multiply_tile(tile_m, k, a, b, &sum[0][0], tile_n);
  const T* const t = a + k * tile_m;
  T* const x = b + k * tile_n;
  for (int i = tile_m - 1; i >= 0; --i)
    for (int c = 0; c < tile_n; ++c) {
      T s = sum[i][c];
      for (int p = 0; p <= i; ++p) s = std::fma(t[p * tile_m + i], x[p * tile_n + c], s);
      x[i * tile_n + c] = s;
    }
}
template <class T>
inline void multiply_upper_tile(int diagonal, Index k, const T* a, T* b) {
  for (int i = 0; i < tile_m; ++i)
    for (int c = 0; c < tile_n; ++c) {
      T s{0};
      for (int p = i; p < diagonal; ++p) s = std::fma(a[p * tile_m + i], b[p * tile_n + c], s);
      for (Index p = diagonal; p < diagonal + k; ++p) s = std::fma(a[p * tile_m + i], b[p * tile_n + c], s);
      b[i * tile_n + c] = s;
    }
}
#define TESSERA_TRIANGLE_TILES(T)                                                                                     \
  TESSERA_FMA_CLONES void solve(const ComplexBlock<T>&, Index k, const T* a, T* b, const T*) { solve_tile(k, a, b); } \
  TESSERA_FMA_CLONES void multiply_lower(const ComplexBlock<T>&, Index k, const T* a, T* b, const T*) {               \
    multiply_lower_tile(k, a, b);                                                                                     \
  }                                                                                                                   \
  TESSERA_FMA_CLONES void multiply_upper(const ComplexBlock<T>&, int diagonal, Index k, const T* a, T* b, const T*) { \
    multiply_upper_tile(diagonal, k, a, b);                                                                           \
  }
TESSERA_TRIANGLE_TILES(float)
TESSERA_TRIANGLE_TILES(double)
#undef TESSERA_TRIANGLE_TILES

template <class T>
inline void multiply_in_place(const DirectTile<T>& x) {
  for (int r = 0; r < x.rows; ++r)
    for (int c = 0; c < x.cols; ++c) {
      T sum = x.more ? x.tile[r * x.ld + c] : T{0};
      for (Index p = 0; p < x.k; ++p) sum = std::fma(x.a[r * x.a_row + p * x.a_step], x.b[p * x.b_step + c], sum);
      x.tile[r * x.ld + c] = sum;
    }
}
TESSERA_FMA_CLONES void multiply_direct(const DirectTile<float>& tile) { multiply_in_place(tile); }
TESSERA_FMA_CLONES void multiply_direct(const DirectTile<double>& tile) { multiply_in_place(tile); }

template <class T>
void transpose(int rows, int cols, const T* from, Index ld_from, T* to, Index ld_to) {
  for (int c = 0; c < cols; ++c)
    for (int r = 0; r < rows; ++r) to[c * ld_to + r] = from[r * ld_from + c];
}

/// Measures the multiply-adds of registers. Plain C++ cannot name registers, so the strips are short enough to stay in
/// L1.
template <class T>
T multiply_registers(Index steps) {
  constexpr Index k = 128;
  T a[k * tile_m];
  T b[k * tile_n];
  T tile[tile_m * tile_n];
  for (T& element : a) element = T{1};
  for (T& element : b) element = T{1};
  T total{0};
  for (Index done = 0; done < steps; done += k) {
    multiply(tile_m, k < steps - done ? k : steps - done, a, b, tile, tile_n, {}, nullptr);
    total += tile[0];
  }
  return total;
}

struct Portable;

template <class T>
MicroKernel<T> kernel() {
  return {.isa = Isa::Portable,
          .parts = 1,
          .tile_m = tile_m,
          .tile_n = tile_n,
          .multiply = multiply,
          .solve = solve,
          .multiply_lower = multiply_lower,
          .multiply_upper = multiply_upper,
          .pack_a = Packing<Portable, T, tile_m>::pack,
          .pack_b = Packing<Portable, T, tile_n>::pack,
          .transpose = transpose<T>,
          .of_complex = nullptr,
          .multiply_registers = multiply_registers<T>,
          .store = store,
          .multiply_direct = multiply_direct,
          .direct_rows = tile_m,
          .direct_cols = [](int) { return tile_n; },
          .half_lanes = 0,
          .multiply_transposing = nullptr,
          .transposing_rows = 0,
          .transposing_cols = 0};
}

} // namespace

template <>
const MicroKernel<float>& portable_micro_kernel() {
  static const MicroKernel<float> f32 = kernel<float>();
  return f32;
}
template <>
const MicroKernel<double>& portable_micro_kernel() {
  static const MicroKernel<double> f64 = kernel<double>();
  return f64;
}

} // namespace tessera::cpu
