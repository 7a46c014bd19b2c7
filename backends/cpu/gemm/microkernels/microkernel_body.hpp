#pragma once

/// The micro-kernel on packed strips, written once for every vector type.
///
/// `Simd` describes the vector type: its element T, a Vector of `lanes` elements with load, broadcast, fma and store,
/// and the tile, tile_m rows of `vectors` vectors. Each step of k loads `vectors` vectors of B, broadcasts tile_m
/// elements of A, and adds their products to tile_m·vectors sums in registers: a rank-1 update.

#include "microkernel_complex.hpp"
#include "microkernel_direct.hpp"
#include "microkernel_transposing.hpp"
#include "packing.hpp"

namespace tessera::cpu {

template <class Simd>
struct MicroKernelBody {
  using T = typename Simd::T;
  using Vector = typename Simd::Vector;
  static constexpr int tile_m = Simd::tile_m;
  static constexpr int vectors = Simd::vectors;
  static constexpr int lanes = Simd::lanes;
  static constexpr int tile_n = vectors * lanes;

  // Says how many steps of k ahead the strips are prefetched, where the processor has loads to spare for that. They
  // come from L2 or, where a strip of B begins, from L3 or memory. The hardware prefetches too, but late
  // (docs/lab/cpu_gemm.md, "What was tried on simd"). A prefetch past the end of a strip is harmless.
  static constexpr Index a_ahead = 24;
  static constexpr Index b_ahead = 48;
  static constexpr Index prefetch_step = prefetch_bytes / sizeof(T);

  template <int rows>
  [[gnu::always_inline]] static void clear(Vector (&sum)[rows][vectors]) {
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r)
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) sum[r][v] = Simd::zero();
  }
  /// The chains of `rows` rows go on with k terms; a and b advance by as many steps.
  template <int rows>
  [[gnu::always_inline]] static void add_terms(Index k, const T*& a, const T*& b, const T* prefetch,
                                               Vector (&sum)[rows][vectors]) {
#pragma GCC unroll 4
    for (Index p = 0; p < k; ++p) {
      __builtin_prefetch(prefetch + p * prefetch_step, 0, 2);
      if constexpr (Simd::prefetches_strips) {
        __builtin_prefetch(a + a_ahead * tile_m);
#pragma GCC unroll 4
        for (int v = 0; v < vectors; ++v) __builtin_prefetch(b + b_ahead * tile_n + v * lanes);
      }
      Vector of_b[vectors];
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) of_b[v] = Simd::load(b + v * lanes);
#pragma GCC unroll 16
      for (int r = 0; r < rows; ++r) {
        const Vector of_a = Simd::broadcast(a + r);
#pragma GCC unroll 4
        for (int v = 0; v < vectors; ++v) sum[r][v] = Simd::fma(of_a, of_b[v], sum[r][v]);
      }
      a += tile_m;
      b += tile_n;
    }
  }

  template <int rows>
  static void multiply_rows(Index k, const T* a, const T* b, T* tile, Index ld, const TileStore<T>& store,
                            const T* prefetch) {
    Vector sum[rows][vectors];
    clear(sum);
    add_terms<rows>(k, a, b, prefetch, sum);
    if (store.adds) {
      const T* from = tile;
#pragma GCC unroll 16
      for (int r = 0; r < rows; ++r, from += ld)
#pragma GCC unroll 4
        for (int v = 0; v < vectors; ++v) sum[r][v] = Simd::add(Simd::load_unaligned(from + v * lanes), sum[r][v]);
    }
    if (store.is_scaled) scale<rows>(store, tile, ld, sum);
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r, tile += ld)
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) Simd::store(tile + v * lanes, sum[r][v]);
  }
  /// Makes alpha·sum + beta·tile of the sums.
  template <int rows>
  [[gnu::always_inline]] static void scale(const TileStore<T>& store, const T* tile, Index ld,
                                           Vector (&sum)[rows][vectors]) {
    const Vector alpha = Simd::broadcast(&store.alpha);
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r)
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) sum[r][v] = alpha * sum[r][v];
    if (store.beta == T{0}) return;
    const Vector beta = Simd::broadcast(&store.beta);
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r, tile += ld)
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) sum[r][v] = Simd::fma(beta, Simd::load_unaligned(tile + v * lanes), sum[r][v]);
  }

  /// MicroKernel::store.
  static void store(int rows, int cols, const T* sums, Index ld_sums, T* c, Index ldc, const TileStore<T>& to) {
    const auto edge = Simd::mask(cols % lanes);
    const Vector alpha = Simd::broadcast(&to.alpha), beta = Simd::broadcast(&to.beta);
    const bool has_beta = to.beta != T{0};
    const auto stored = [&](Vector sum, auto old) __attribute__((always_inline)) {
      if (to.adds) sum = Simd::add(old(), sum);
      if (!to.is_scaled) return sum;
      sum = alpha * sum;
      return has_beta ? Simd::fma(beta, old(), sum) : sum;
    };
    for (int r = 0; r < rows; ++r, sums += ld_sums, c += ldc) {
      int j = 0;
      for (; j + lanes <= cols; j += lanes)
        Simd::store(c + j, stored(Simd::load_unaligned(sums + j), [&] { return Simd::load_unaligned(c + j); }));
      if (j < cols)
        Simd::store_part(c + j, edge,
                         stored(Simd::load_part(sums + j, edge), [&] { return Simd::load_part(c + j, edge); }));
    }
  }

  /// Calls multiply_rows<wanted>, where `wanted` is known only at run time.
  template <int rows = tile_m>
  static void multiply(int wanted, Index k, const T* a, const T* b, T* tile, Index ld, const TileStore<T>& store,
                       const T* prefetch) {
    if constexpr (rows > 1) {
      if (wanted != rows) return multiply<rows - 1>(wanted, k, a, b, tile, ld, store, prefetch);
    }
    multiply_rows<rows>(k, a, b, tile, ld, store, prefetch);
  }

  /// The chains of the rows [first, end) go on with a step of the block on the diagonal.
  [[gnu::always_inline]] static void add_step(int first, int end, const T* a, const Vector (&x)[vectors],
                                              Vector (&sum)[tile_m][vectors]) {
#pragma GCC unroll 16
    for (int r = first; r < end; ++r) {
      const Vector of_a = Simd::broadcast(a + r);
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) sum[r][v] = Simd::fma(of_a, x[v], sum[r][v]);
    }
  }
  [[gnu::always_inline]] static void load_row(const T* row, Vector (&x)[vectors]) {
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) x[v] = Simd::load(row + v * lanes);
  }
  [[gnu::always_inline]] static void store_rows(const Vector (&sum)[tile_m][vectors], T* row) {
#pragma GCC unroll 16
    for (int r = 0; r < tile_m; ++r, row += tile_n)
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) Simd::store(row + v * lanes, sum[r][v]);
  }

  /// MicroKernel::solve.
  static void solve(const ComplexBlock<T>&, Index k, const T* a, T* b, const T* prefetch) {
    Vector sum[tile_m][vectors], x[vectors];
    const T* before = b;
    clear(sum);
    add_terms<tile_m>(k, a, before, prefetch, sum);
    T* row = b + k * tile_n;
#pragma GCC unroll 16
    for (int i = 0; i < tile_m; ++i, a += tile_m, row += tile_n) {
      const Vector diagonal = Simd::broadcast(a + i);
      load_row(row, x);
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) {
        x[v] = (x[v] - sum[i][v]) / diagonal;
        Simd::store(row + v * lanes, x[v]);
      }
      add_step(i + 1, tile_m, a, x, sum);
    }
  }

  /// MicroKernel::multiply_lower.
  static void multiply_lower(const ComplexBlock<T>&, Index k, const T* a, T* b, const T* prefetch) {
    Vector sum[tile_m][vectors], x[vectors];
    const T* row = b;
    clear(sum);
    add_terms<tile_m>(k, a, row, prefetch, sum);
#pragma GCC unroll 16
    for (int i = 0; i < tile_m; ++i, a += tile_m, row += tile_n) {
      load_row(row, x);
      add_step(i, tile_m, a, x, sum);
    }
    store_rows(sum, b + k * tile_n);
  }

  /// MicroKernel::multiply_upper.
  static void multiply_upper(const ComplexBlock<T>&, int diagonal, Index k, const T* a, T* b, const T* prefetch) {
    Vector sum[tile_m][vectors], x[vectors];
    const T* row = b;
    clear(sum);
#pragma GCC unroll 16
    for (int i = 0; i < tile_m; ++i, a += tile_m, row += tile_n) {
      if (i == diagonal) break;
      load_row(row, x);
      add_step(0, i + 1, a, x, sum);
    }
    add_terms<tile_m>(k, a, row, prefetch, sum);
    store_rows(sum, b);
  }

  /// Does `steps` multiply-adds on each register of a tile; see MicroKernel.
  static T multiply_registers(Index steps) {
    Vector sum[tile_m][vectors];
    Vector factor = Simd::one();
    for (int r = 0; r < tile_m; ++r)
      for (int v = 0; v < vectors; ++v) sum[r][v] = Simd::zero();
    for (Index p = 0; p < steps; ++p) {
      Simd::keep(factor); // the compiler must not see that all products are equal
#pragma GCC unroll 16
      for (int r = 0; r < tile_m; ++r)
#pragma GCC unroll 4
        for (int v = 0; v < vectors; ++v) sum[r][v] = Simd::fma(factor, factor, sum[r][v]);
    }
    T out[lanes];
    T total{0};
    for (int r = 0; r < tile_m; ++r)
      for (int v = 0; v < vectors; ++v) {
        Simd::store(out, sum[r][v]);
        total += out[0];
      }
    return total;
  }

  static constexpr MicroKernel<T> kernel(Isa isa, const MicroKernel<T>* of_complex) {
    return {.isa = isa,
            .parts = 1,
            .tile_m = tile_m,
            .tile_n = tile_n,
            .multiply = multiply<tile_m>,
            .solve = solve,
            .multiply_lower = multiply_lower,
            .multiply_upper = multiply_upper,
            .pack_a = Packing<Simd, T, tile_m>::pack,
            .pack_b = Packing<Simd, T, tile_n>::pack,
            .transpose = TransposingBody<Simd>::transpose,
            .of_complex = of_complex,
            .multiply_registers = multiply_registers,
            .store = store,
            .multiply_direct = DirectBody<Simd>::multiply,
            .direct_rows = DirectBody<Simd>::max_rows,
            .direct_cols = DirectBody<Simd>::cols_for,
            .half_lanes = DirectBody<Simd>::has_half ? lanes / 2 : 0,
            .multiply_transposing = TransposingBody<Simd>::template multiply<>,
            .transposing_rows = TransposingBody<Simd>::max_rows,
            .transposing_cols = lanes};
  }
};

} // namespace tessera::cpu
