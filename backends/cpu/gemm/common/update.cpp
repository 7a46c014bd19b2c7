#include "update.hpp"

#include <cmath>
#include <cstddef>
#include <utility>

#include "reference/elementwise/complex_number.hpp"
#include "reference/elementwise/epilogue.hpp"
#include "reference/fma_clones.hpp"

namespace tessera::cpu {
namespace {

// All templates become parts of the clones below: by themselves they would call the C library for each multiply-add.

/// Neighbours in a vector of the compiler's own, which needs no alignment. Functions of vectors name each lane, so that
/// the compiler finds the instructions for all of them; loops over rows of unknown length would be compiled for
/// overlapping memory, too.
template <class T>
struct Neighbours {
  static constexpr int lanes = 32 / sizeof(T);
  typedef T Vector __attribute__((vector_size(32), aligned(alignof(T)), may_alias));
  using Lanes = std::make_index_sequence<lanes>;

  [[gnu::always_inline]] static Vector load(const T* x) { return *reinterpret_cast<const Vector*>(x); }
  [[gnu::always_inline]] static void store(T* x, const Vector& v) { *reinterpret_cast<Vector*>(x) = v; }
  template <std::size_t... i>
  [[gnu::always_inline]] static Vector filled(T even, T odd, std::index_sequence<i...>) {
    return Vector{(i % 2 == 0 ? even : odd)...};
  }
  template <std::size_t... i>
  [[gnu::always_inline]] static Vector swapped(const Vector& x, std::index_sequence<i...>) {
    return __builtin_shufflevector(x, x, (i ^ 1)...);
  }
  template <std::size_t... i>
  [[gnu::always_inline]] static Vector fma(const Vector& x, const Vector& y, const Vector& z,
                                           std::index_sequence<i...>) {
    return Vector{std::fma(x[i], y[i], z[i])...};
  }
};

/// alpha or beta: a factor of elements, or, with an imaginary part, of pairs of them, which are complex numbers.
template <class T>
struct FactorOfRow {
  using N = Neighbours<T>;
  using Vector = typename N::Vector;
  using Lanes = typename N::Lanes;

  [[gnu::always_inline]] FactorOfRow(T re, T im)
      : number{re, im},
        real(N::filled(re, re, Lanes())),
        imaginary(N::filled(-im, im, Lanes())),
        is_real(im == T{0}),
        is_zero(is_real && re == T{0}) {}

  /// scaled() and added() of reference/elementwise/complex_number.hpp.
  [[gnu::always_inline]] Vector times(const Vector& x) const {
    const Vector product = real * x;
    return is_real ? product : N::fma(imaginary, N::swapped(x, Lanes()), product, Lanes());
  }
  [[gnu::always_inline]] Vector add_times(const Vector& x, const Vector& sum) const {
    const Vector r = N::fma(real, x, sum, Lanes());
    return is_real ? r : N::fma(imaginary, N::swapped(x, Lanes()), r, Lanes());
  }

  ComplexNumber<T> number;
  Vector real, imaginary;
  bool is_real, is_zero;
};

/// Stores one row after the last segment. `sum(j)` is the row's j-th sum of all segments, `sums(j)` a vector of them.
template <class T, class Sum, class Sums>
[[gnu::always_inline]] inline void finish_row(const FactorOfRow<T>& alpha, const FactorOfRow<T>& beta, Index cols,
                                              Sum sum, Sums sums, T* c) {
  using N = Neighbours<T>;
  Index j = 0;
  for (; j + N::lanes <= cols; j += N::lanes) {
    const typename N::Vector r = alpha.times(sums(j));
    N::store(c + j, beta.is_zero ? r : beta.add_times(N::load(c + j), r));
  }
  if (alpha.is_real && beta.is_real)
    for (; j < cols; ++j) {
      const T r = alpha.number.re * sum(j);
      c[j] = beta.is_zero ? r : std::fma(beta.number.re, c[j], r);
    }
  for (; j < cols; j += 2) {
    ComplexNumber<T> r = scaled(alpha.number, ComplexNumber<T>{sum(j), sum(j + 1)});
    if (!beta.is_zero) r = added(beta.number, ComplexNumber<T>{c[j], c[j + 1]}, r);
    c[j] = r.re;
    c[j + 1] = r.im;
  }
}

/// Stores the sums so far of one row.
template <class T, class Sum, class Sums>
[[gnu::always_inline]] inline void keep_row(Index cols, Sum sum, Sums sums, T* s) {
  using N = Neighbours<T>;
  Index j = 0;
  for (; j + N::lanes <= cols; j += N::lanes) N::store(s + j, sums(j));
  for (; j < cols; ++j) s[j] = sum(j);
}

template <class T>
[[gnu::always_inline]] inline void update_tile(const Update<T>& update, Index rows, Index cols, const T* tile,
                                               Index ld_tile, T* s, Index lds, T* c, Index ldc) {
  using N = Neighbours<T>;
  const FactorOfRow<T> alpha(update.alpha, update.alpha_imaginary), beta(update.beta, update.beta_imaginary);
  const auto update_row = [&](auto sum, auto sums) __attribute__((always_inline)) {
    update.last ? finish_row(alpha, beta, cols, sum, sums, c) : keep_row(cols, sum, sums, s);
  };
  T* const tile_of_c = c;
  for (Index i = 0; i < rows; ++i, tile += ld_tile, s += lds, c += ldc) {
    if (update.first)
      update_row([&](Index j) { return tile[j]; }, [&](Index j) { return N::load(tile + j); });
    else
      update_row([&](Index j) { return s[j] + tile[j]; }, [&](Index j) { return N::load(s + j) + N::load(tile + j); });
  }
  if (!update.last || update.call == nullptr || update.call->epilogue.empty()) return;
  const Index offset = tile_of_c - static_cast<const T*>(update.call->c);
  for (Index i = 0; i < rows; ++i) {
    T* const row = tile_of_c + i * ldc;
    host::apply_epilogue_to_row(update.call->epilogue, offset / ldc + i, offset % ldc, cols, row, row);
  }
}

} // namespace

// Only functions that are not templates can be cloned.
TESSERA_FMA_CLONES void apply(const Update<float>& update, Index rows, Index cols, const float* tile, Index ld_tile,
                              float* s, Index lds, float* c, Index ldc) {
  update_tile(update, rows, cols, tile, ld_tile, s, lds, c, ldc);
}
TESSERA_FMA_CLONES void apply(const Update<double>& update, Index rows, Index cols, const double* tile, Index ld_tile,
                              double* s, Index lds, double* c, Index ldc) {
  update_tile(update, rows, cols, tile, ld_tile, s, lds, c, ldc);
}

} // namespace tessera::cpu
