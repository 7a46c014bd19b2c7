#pragma once

/// The micro-kernel of complex numbers, written once for every vector type (microkernel_body.hpp has what `Simd` is).
///
/// A tile has complex_rows rows of `lanes` numbers, the real parts of a row in one register and the imaginary parts in
/// another one. So a term takes four fused multiply-adds of vectors and no exchange of lanes, and a strip holds each
/// number once. Rows become numbers, re and im in turn, when they are stored.
///
/// A term is two steps of both chains (docs/contract.md, "Complex products"). Its first factor is the broadcast number,
/// or the number of the lines where these come first: then the steps of the imaginary chain change places.

#include "microkernel_transposing.hpp"
#include "packing.hpp"

namespace tessera::cpu {

template <class Simd>
struct ComplexBody {
  using T = typename Simd::T;
  using Vector = typename Simd::Vector;
  static constexpr int rows = Simd::complex_rows;
  static constexpr int lanes = Simd::lanes;
  static constexpr int row = 2 * lanes;   ///< elements of a tile's row, and of a number of each line in a strip
  static constexpr int column = 2 * rows; ///< elements of a step of the broadcast strip

  static constexpr Index a_ahead = 12; ///< numbers; microkernel_body.hpp says why they are prefetched
  static constexpr Index b_ahead = 24;
  static constexpr Index prefetch_step = 2 * prefetch_bytes / sizeof(T);

  /// The parts of a number of each line.
  struct Parts {
    Vector re, im;
  };
  [[gnu::always_inline]] static Parts load(const T* x) { return {Simd::load(x), Simd::load(x + lanes)}; }
  [[gnu::always_inline]] static void store(T* x, const Parts& n) {
    Simd::store(x, n.re);
    Simd::store(x + lanes, n.im);
  }
  [[gnu::always_inline]] static void clear(Parts* sum, int count) {
#pragma GCC unroll 16
    for (int r = 0; r < count; ++r) sum[r] = {Simd::zero(), Simd::zero()};
  }

  /// The chains of the rows [first, end) go on with a term.
  template <bool lines_come_first>
  [[gnu::always_inline]] static void add_term(int first, int end, const T* a, const Parts& x, Parts* sum) {
    if constexpr (lines_come_first) {
#pragma GCC unroll 16
      for (int r = first; r < end; ++r) {
        const Vector re = Simd::broadcast(a + r), im = Simd::broadcast(a + rows + r);
        sum[r].re = Simd::fma(re, x.re, sum[r].re);
        sum[r].im = Simd::fma(im, x.re, sum[r].im);
        sum[r].re = Simd::subtract_product(im, x.im, sum[r].re);
        sum[r].im = Simd::fma(re, x.im, sum[r].im);
      }
    } else {
#pragma GCC unroll 16
      for (int r = first; r < end; ++r) {
        const Vector re = Simd::broadcast(a + r);
        sum[r].re = Simd::fma(re, x.re, sum[r].re);
        sum[r].im = Simd::fma(re, x.im, sum[r].im);
      }
#pragma GCC unroll 16
      for (int r = first; r < end; ++r) {
        const Vector im = Simd::broadcast(a + rows + r);
        sum[r].re = Simd::subtract_product(im, x.im, sum[r].re);
        sum[r].im = Simd::fma(im, x.re, sum[r].im);
      }
    }
  }
  /// The chains of the first `count` rows go on with the terms of k steps; a and b advance by as many.
  template <bool lines_come_first, int count = rows>
  [[gnu::always_inline]] static void add_terms(Index k, const T*& a, const T*& b, const T* prefetch, Parts* sum) {
    const Index terms = k / 2;
#pragma GCC unroll 2
    for (Index p = 0; p < terms; ++p) {
      __builtin_prefetch(prefetch + p * prefetch_step, 0, 2);
      if constexpr (Simd::prefetches_strips) {
        __builtin_prefetch(a + a_ahead * column);
        __builtin_prefetch(b + b_ahead * row);
        __builtin_prefetch(b + b_ahead * row + lanes);
      }
      add_term<lines_come_first>(0, count, a, load(b), sum);
      a += column;
      b += row;
    }
  }

  /// Puts the real parts and the imaginary ones of some numbers in turn.
  template <int... i>
  [[gnu::always_inline]] static Parts in_turn(const Parts& x, Numbered<i...>) {
    return {__builtin_shufflevector(x.re, x.im, (i / 2 + i % 2 * lanes)...),
            __builtin_shufflevector(x.re, x.im, (lanes / 2 + i / 2 + i % 2 * lanes)...)};
  }

  /// Undoes in_turn().
  template <int... i>
  [[gnu::always_inline]] static Parts apart(const T* from, Numbered<i...>) {
    const Vector low = Simd::load_unaligned(from), high = Simd::load_unaligned(from + lanes);
    return {__builtin_shufflevector(low, high, (2 * i)...), __builtin_shufflevector(low, high, (2 * i + 1)...)};
  }
  using Lanes = typename NumberedUpTo<lanes>::List;

  /// Returns the number re + im·i times x, and with `sum` what fma() makes of it; `im` is not used where it is 0.
  [[gnu::always_inline]] static Parts add_times(bool is_real, Vector re, Vector im, const Parts& x, const Parts& sum) {
    const Parts r{Simd::fma(re, x.re, sum.re), Simd::fma(re, x.im, sum.im)};
    if (is_real) return r;
    return {Simd::subtract_product(im, x.im, r.re), Simd::fma(im, x.re, r.im)};
  }
  [[gnu::always_inline]] static Parts times(bool is_real, Vector re, Vector im, const Parts& x) {
    const Parts r{re * x.re, re * x.im};
    if (is_real) return r;
    return {Simd::subtract_product(im, x.im, r.re), Simd::fma(im, x.re, r.im)};
  }

  template <int count>
  static void multiply_rows(Index k, const T* a, const T* b, T* tile, Index ld, const TileStore<T>& to,
                            const T* prefetch) {
    Parts sum[count];
    clear(sum, count);
    add_terms<false, count>(k, a, b, prefetch, sum);
    const bool is_plain = !to.adds && !to.is_scaled;
#pragma GCC unroll 16
    for (int r = 0; r < count; ++r, tile += ld)
      store(tile, in_turn(is_plain ? sum[r] : updated(to, sum[r], tile), Lanes()));
  }
  /// Returns what a row of the tile becomes that has something to add or to multiply.
  [[gnu::always_inline]] static Parts updated(const TileStore<T>& to, Parts sum, const T* from) {
    const bool has_beta = to.beta != T{0} || to.beta_imaginary != T{0};
    Parts old{};
    if (to.adds || has_beta) old = apart(from, Lanes());
    if (to.adds) sum = {Simd::add(old.re, sum.re), Simd::add(old.im, sum.im)};
    if (!to.is_scaled) return sum;
    sum = times(to.alpha_imaginary == T{0}, Simd::broadcast(&to.alpha), Simd::broadcast(&to.alpha_imaginary), sum);
    if (!has_beta) return sum;
    return add_times(to.beta_imaginary == T{0}, Simd::broadcast(&to.beta), Simd::broadcast(&to.beta_imaginary), old,
                     sum);
  }
  /// Calls multiply_rows<wanted>, where `wanted` is known only at run time.
  template <int count = rows>
  static void multiply(int wanted, Index k, const T* a, const T* b, T* tile, Index ld, const TileStore<T>& to,
                       const T* prefetch) {
    if constexpr (count > 1) {
      if (wanted != count) return multiply<count - 1>(wanted, k, a, b, tile, ld, to, prefetch);
    }
    multiply_rows<count>(k, a, b, tile, ld, to, prefetch);
  }

  [[gnu::always_inline]] static Parts divided(const Parts& x, const ComplexDivisor<T>& by) {
    if (by.is_real) return {x.re / Simd::broadcast(&by.real), x.im / Simd::broadcast(&by.real)};
    const Vector scale = Simd::broadcast(&by.scale), re = scale * x.re, im = scale * x.im;
    const Vector inverse_re = Simd::broadcast(&by.inverse_re), inverse_im = Simd::broadcast(&by.inverse_im);
    return {Simd::fma(re, inverse_re, -(im * inverse_im)), Simd::fma(re, inverse_im, im * inverse_re)};
  }
  template <bool lines_come_first>
  static void solve(const ComplexDivisor<T>* divisors, Index k, const T* a, T* b, const T* prefetch) {
    Parts sum[rows];
    const T* before = b;
    clear(sum, rows);
    add_terms<lines_come_first>(k, a, before, prefetch, sum);
    T* at = b + k / 2 * row;
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i, a += column, at += row) {
      Parts x = load(at);
      x = divided({x.re - sum[i].re, x.im - sum[i].im}, divisors[i]);
      store(at, x);
      add_term<lines_come_first>(i + 1, rows, a, x, sum);
    }
  }

  /// The chains of row i go on with the term of the diagonal.
  template <bool lines_come_first>
  [[gnu::always_inline]] static void add_diagonal(bool is_unit, int i, const T* a, const Parts& x, Parts* sum) {
    if (is_unit)
      sum[i] = {Simd::add(x.re, sum[i].re), Simd::add(x.im, sum[i].im)};
    else
      add_term<lines_come_first>(i, i + 1, a, x, sum);
  }
  template <bool lines_come_first>
  static void multiply_lower(bool is_unit, Index k, const T* a, T* b, const T* prefetch) {
    Parts sum[rows];
    const T* at = b;
    clear(sum, rows);
    add_terms<lines_come_first>(k, a, at, prefetch, sum);
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i, a += column, at += row) {
      const Parts x = load(at);
      add_diagonal<lines_come_first>(is_unit, i, a, x, sum);
      add_term<lines_come_first>(i + 1, rows, a, x, sum);
    }
    T* to = b + k / 2 * row;
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i, to += row) store(to, sum[i]);
  }
  template <bool lines_come_first>
  static void multiply_upper(bool is_unit, int diagonal, Index k, const T* a, T* b, const T* prefetch) {
    Parts sum[rows];
    const T* at = b;
    clear(sum, rows);
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i, a += column, at += row) {
      if (i == diagonal) break;
      const Parts x = load(at);
      add_term<lines_come_first>(0, i, a, x, sum);
      add_diagonal<lines_come_first>(is_unit, i, a, x, sum);
    }
    add_terms<lines_come_first>(k, a, at, prefetch, sum);
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i, b += row) store(b, sum[i]);
  }

  static constexpr MicroKernel<T> kernel(Isa isa) {
    return {.isa = isa,
            .parts = 2,
            .tile_m = rows,
            .tile_n = row,
            .multiply = multiply<rows>,
            .solve =
                [](const ComplexBlock<T>& block, Index k, const T* a, T* b, const T* prefetch) {
                  block.lines_come_first ? solve<true>(block.divisors, k, a, b, prefetch)
                                         : solve<false>(block.divisors, k, a, b, prefetch);
                },
            .multiply_lower =
                [](const ComplexBlock<T>& block, Index k, const T* a, T* b, const T* prefetch) {
                  block.lines_come_first ? multiply_lower<true>(block.has_unit_diagonal, k, a, b, prefetch)
                                         : multiply_lower<false>(block.has_unit_diagonal, k, a, b, prefetch);
                },
            .multiply_upper =
                [](const ComplexBlock<T>& block, int diagonal, Index k, const T* a, T* b, const T* prefetch) {
                  block.lines_come_first ? multiply_upper<true>(block.has_unit_diagonal, diagonal, k, a, b, prefetch)
                                         : multiply_upper<false>(block.has_unit_diagonal, diagonal, k, a, b, prefetch);
                },
            .pack_a = Packing<Simd, T, rows>::pack,
            .pack_b = Packing<Simd, T, lanes>::pack,
            .transpose = TransposingBody<Simd>::transpose,
            .of_complex = nullptr,
            .multiply_registers = nullptr,
            .store = nullptr,
            .multiply_direct = nullptr,
            .direct_rows = 0,
            .direct_cols = nullptr,
            .half_lanes = 0,
            .multiply_transposing = nullptr,
            .transposing_rows = 0,
            .transposing_cols = 0};
  }
};

} // namespace tessera::cpu
