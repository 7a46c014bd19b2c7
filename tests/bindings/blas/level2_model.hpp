#pragma once

/// Level 2 of the BLAS as docs/contract.md defines it, written plainly, and matrices as the routines store them.

#include <functional>

#include "vectors_model.hpp"

#include "level2_names.hpp"

namespace tessera::test {

enum class Storage { Dense, Band, Packed };

/// Which elements of a matrix are stored, and where.
struct Layout {
  Storage storage;
  bool by_rows;
  Index rows, cols, below, above; ///< diagonals on either side that are stored
  Index ld;

  bool has(Index i, Index j) const { return i - j <= below && j - i <= above; }
  Index place(Index i, Index j) const {
    if (by_rows) return Layout{storage, false, cols, rows, above, below, ld}.place(j, i);
    if (storage == Storage::Dense) return j * ld + i;
    if (storage == Storage::Band) return j * ld + above + i - j;
    return above > 0 || below == 0 ? j * (j + 1) / 2 + i : j * rows - j * (j - 1) / 2 + i - j;
  }
  Index size() const {
    if (storage == Storage::Packed) return rows * (rows + 1) / 2;
    return ld * (by_rows ? rows : cols);
  }
};

/// A matrix in memory, whose other elements are NaN.
template <class N>
struct Stored {
  Stored(Random& random, const Layout& how) : layout(how), values(static_cast<std::size_t>(how.size() + 1)) {
    for (N& value : values)
      for (int part = 0; part < parts<N>; ++part) part_of(value, part) = std::numeric_limits<RealOf<N>>::quiet_NaN();
    for (Index i = 0; i < layout.rows; ++i)
      for (Index j = 0; j < layout.cols; ++j)
        if (layout.has(i, j)) at(i, j) = random.number<N>();
  }
  /// The same numbers stored in another way.
  Stored(const Stored& from, const Layout& how, Random& random) : Stored(random, how) {
    for (Index i = 0; i < layout.rows; ++i)
      for (Index j = 0; j < layout.cols; ++j)
        if (layout.has(i, j)) at(i, j) = from.at(i, j);
  }
  N& at(Index i, Index j) { return values[static_cast<std::size_t>(layout.place(i, j))]; }
  const N& at(Index i, Index j) const { return values[static_cast<std::size_t>(layout.place(i, j))]; }
  void must_equal(const char* what, const Stored& got) const {
    for (std::size_t i = 0; i < values.size(); ++i)
      if (!same_bits(values[i], got.values[i])) return must_be(what, values[i], got.values[i], layout.rows, layout.ld);
  }

  Layout layout;
  std::vector<N> values;
};

template <class N>
inline constexpr Index segment = is_complex<N> ? 512 : 1024;

template <class N>
N step(const N& chain, const N& a, const N& b) {
  if constexpr (is_complex<N>)
    return {std::fma(a.im, -b.im, std::fma(a.re, b.re, chain.re)),
            std::fma(a.im, b.re, std::fma(a.re, b.im, chain.im))};
  else
    return std::fma(a, b, chain);
}
template <class N>
N added(const N& x, const N& y) {
  if constexpr (is_complex<N>)
    return {x.re + y.re, x.im + y.im};
  else
    return x + y;
}
template <class N>
N opposite(const N& x) {
  if constexpr (is_complex<N>)
    return {-x.re, -x.im};
  else
    return -x;
}
template <class N>
N conjugated_if(bool conjugates, const N& x) {
  if constexpr (is_complex<N>)
    if (conjugates) return conjugate(x);
  return x;
}
template <class N>
bool is_zero(const N& x) {
  return part_of(x, 0) == 0 && part_of(x, parts<N> - 1) == 0;
}

/// Element (i, k) of a matrix, where has(i, k).
template <class N>
struct Elements {
  std::function<bool(Index, Index)> has;
  std::function<N(Index, Index)> at;
};

/// The sums of the segments of row i, in ascending order; none where the row has no element.
template <class N, class X>
std::vector<N> segment_sums(const Elements<N>& a, Index i, Index first, Index end, const X& x) {
  std::vector<N> sums;
  Index open = -1;
  for (Index k = first; k < end; ++k) {
    if (!a.has(i, k)) continue;
    if (k / segment<N> != open) sums.push_back(N{});
    open = k / segment<N>;
    sums.back() = step(sums.back(), a.at(i, k), x(k));
  }
  return sums;
}

template <class N>
void model_product(const Elements<N>& a, const N& alpha, const Spread<N>& x, const N& beta, Spread<N>& y) {
  for (Index i = 0; i < y.size; ++i) {
    const auto sums = segment_sums(a, i, 0, x.size, [&](Index k) { return x.at(k); });
    N& to = y.at(i);
    if (sums.empty() || is_zero(alpha)) {
      to = is_zero(beta) ? N{} : model_scaled(beta, to);
      continue;
    }
    N s = sums[0];
    for (std::size_t n = 1; n < sums.size(); ++n) s = added(s, sums[n]);
    const N r = model_scaled(alpha, s);
    to = is_zero(beta) ? r : model_axpy(beta, to, r);
  }
}

template <class N>
N model_quotient(const N& x, const N& d) {
  if constexpr (is_complex<N>) {
    using R = RealOf<N>;
    if (d.im == 0) return {x.re / d.re, x.im / d.re};
    const R larger = std::max(std::abs(d.re), std::abs(d.im));
    R scale = 1;
    if (std::isfinite(larger))
      scale = std::ldexp(R{1}, -2 - std::max(std::ilogb(larger), std::numeric_limits<R>::min_exponent - 1));
    const N e{scale * d.re, scale * d.im}, u{scale * x.re, scale * x.im};
    const R square = std::fma(e.re, e.re, e.im * e.im);
    const N inverse{e.re / square, -e.im / square};
    return {std::fma(u.re, inverse.re, -(u.im * inverse.im)), std::fma(u.re, inverse.im, u.im * inverse.re)};
  } else {
    return x / d;
  }
}

/// Solves T·x = b for a lower T, or for an upper one, whose rows and columns are counted from the last.
template <class N>
void model_solve(const Elements<N>& t, bool lower, bool unit, Spread<N>& x) {
  const Index n = x.size;
  const auto place = [&](Index i) { return lower ? i : n - 1 - i; };
  const Elements<N> forward{[&](Index i, Index k) { return t.has(place(i), place(k)); },
                            [&](Index i, Index k) { return t.at(place(i), place(k)); }};
  for (Index i = 0; i < n; ++i) {
    N& unknown = x.at(place(i));
    for (const N& sum : segment_sums(forward, i, 0, i, [&](Index k) { return x.at(place(k)); }))
      unknown = added(unknown, opposite(sum));
    if (!unit) unknown = model_quotient(unknown, forward.at(i, i));
  }
}

/// a + u·v, where alpha scales one of the factors.
template <class N>
N model_update(const N& a, const N& alpha, const N& u, const N& v, bool scales_u) {
  return scales_u ? step(a, model_scaled(alpha, u), v) : step(a, u, model_scaled(alpha, v));
}

} // namespace tessera::test
