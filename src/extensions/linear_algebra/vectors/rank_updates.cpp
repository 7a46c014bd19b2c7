#include "rank_updates.hpp"

#include <cmath>

#include <tessera/detail/floating_point.hpp>

#include "dense/dense.hpp"
#include "near_far.hpp"
#include "parts.hpp"

namespace tessera::vectors {
namespace {

/// The elements of a column that are updated: a(i) += u(i)·v, i < count.
template <class N>
struct Column {
  N* a;
  const N* u;
  Index count;
};

/// What a column is updated with: v(j) of the column, and alpha, which multiplied v(j) unless it scales u.
template <class N>
struct Factor {
  N alpha, v;
  bool scales_u, conjugates_u, column_first;
};

template <bool scales_u, class R>
[[gnu::always_inline]] inline void update_real(const Column<R>& column, const Factor<R>& by) {
  R* __restrict const a = column.a;
  const R* const u = column.u;
  for (Index i = 0; i < column.count; ++i) a[i] = std::fma(scales_u ? by.alpha * u[i] : u[i], by.v, a[i]);
}
template <class R>
[[gnu::always_inline]] inline void update_one(const Column<R>& column, const Factor<R>& by) {
  by.scales_u ? update_real<true>(column, by) : update_real<false>(column, by);
}

/// What alpha does to u.
enum class Scale { None, ByReal, ByComplex };

template <Scale scale, bool column_first, class R>
[[gnu::always_inline]] inline ComplexNumber<R> updated(const ComplexNumber<R>& a, R re, R im,
                                                       const Factor<ComplexNumber<R>>& by) {
  if (scale == Scale::ByReal) {
    re *= by.alpha.re;
    im *= by.alpha.re;
  } else if (scale == Scale::ByComplex) {
    const R before = re;
    re = std::fma(-by.alpha.im, im, by.alpha.re * re);
    im = std::fma(by.alpha.im, before, by.alpha.re * im);
  }
  return {std::fma(im, -by.v.im, std::fma(re, by.v.re, a.re)),
          column_first ? std::fma(by.v.im, re, std::fma(by.v.re, im, a.im))
                       : std::fma(im, by.v.re, std::fma(re, by.v.im, a.im))};
}

template <Scale scale, bool column_first, class R>
[[gnu::always_inline]] inline void update_complex(const Column<ComplexNumber<R>>& column,
                                                  const Factor<ComplexNumber<R>>& factor) {
  const Factor<ComplexNumber<R>> by = factor;
  ComplexNumber<R>* __restrict const a = column.a;
  const ComplexNumber<R>* const u = column.u;
  const R sign = by.conjugates_u ? R{-1} : R{1};
  for (Index i = 0; i < column.count; ++i) a[i] = updated<scale, column_first>(a[i], u[i].re, sign * u[i].im, by);
}
template <Scale scale, class R>
[[gnu::always_inline]] inline void update_complex(const Column<ComplexNumber<R>>& column,
                                                  const Factor<ComplexNumber<R>>& by) {
  by.column_first ? update_complex<scale, true>(column, by) : update_complex<scale, false>(column, by);
}
template <class R>
[[gnu::always_inline]] inline void update_one(const Column<ComplexNumber<R>>& column,
                                              const Factor<ComplexNumber<R>>& by) {
  if (!by.scales_u) return update_complex<Scale::None>(column, by);
  by.alpha.im == 0 ? update_complex<Scale::ByReal>(column, by) : update_complex<Scale::ByComplex>(column, by);
}

#define TESSERA_COLUMN(N) \
  TESSERA_NEAR_AND_FAR(void, update_column, (const Column<N>& column, const Factor<N>& by), { update_one(column, by); })
TESSERA_COLUMN(float)
TESSERA_COLUMN(double)
TESSERA_COLUMN(ComplexNumber<float>)
TESSERA_COLUMN(ComplexNumber<double>)
#undef TESSERA_COLUMN

template <class N>
void update_column(bool far, const Column<N>& column, const Factor<N>& by) {
  far ? update_column_far(column, by) : update_column_near(column, by);
}

template <class N>
Factor<N> factor_of(const N& alpha, const Outer<N>& outer, Index j) {
  Factor<N> factor{alpha, outer.v[j], outer.scales_u, outer.conjugates_u, outer.column_first};
  if constexpr (has_two_parts<N>) {
    if (outer.conjugates_v) factor.v = conjugate(factor.v);
    if (!outer.scales_u) factor.v = scaled(alpha, factor.v);
  } else {
    if (!outer.scales_u) factor.v *= alpha;
  }
  return factor;
}

/// Rows whose elements of u are copied at once where they do not lie side by side.
constexpr Index rows_at_once = 1024;

/// Columns that are updated at once, at least.
constexpr Index grain = 16;

/// Calls column(j, first, end) for the columns c0 … c1 − 1 and their rows in begin … begin + height − 1.
template <class N, class Body>
void for_columns(const Columns<N>& a, Index c0, Index c1, Index begin, Index height, const Body& column) {
  const Index stop = std::min(a.rows, begin + height);
  for (Index j = std::max(c0, a.first_column(begin)); j < std::min(c1, a.end_column(stop)); ++j) {
    const Index first = std::max(begin, a.first(j)), end = std::min(stop, a.end(j));
    column(j, first, end);
    if constexpr (has_two_parts<N>)
      if (a.diagonal == OnDiagonal::Real && j >= first && j < end) a.column(j)[j].im = 0;
  }
}

template <class N>
Index bytes_of(const Columns<N>& a) {
  return a.rows * a.cols * static_cast<Index>(sizeof(N));
}

/// Calls part(c0, c1) for parts of the columns.
template <class N, class Part>
void in_columns(const Columns<N>& a, const Part& part) {
  in_parts(bytes_of(a), a.cols, grain, part);
}

#if TESSERA_HAS_WIDE
/// A vector of a strip of rows as the loops of dense.hpp take it: side by side, and multiplied by what scales it.
template <class N>
class RowsOfOuter {
 public:
  const N* of(const Outer<N>& outer, const N& alpha, Index begin, Index count) {
    const N* const u = near_.of(outer.u, begin, count);
    if (!outer.scales_u) return u;
    for (Index i = 0; i < count; ++i) {
      if constexpr (has_two_parts<N>)
        scaled_[i] = scaled(alpha, outer.conjugates_u ? conjugate(u[i]) : u[i]);
      else
        scaled_[i] = alpha * u[i];
    }
    return scaled_;
  }

 private:
  SideBySide<N, rows_at_once> near_;
  N scaled_[rows_at_once];
};

/// The updates by the loops of dense.hpp. Returns false, and does nothing, where it does not take them.
template <class N>
bool update_dense(const Columns<N>& a, const N& alpha, const Outer<N>& outer, const N* beta, const Outer<N>* other) {
  const bool upper = a.below == 0, lower = a.above == 0;
  if (!takes_wide(a.rows * static_cast<Index>(sizeof(N))) || outer.column_first) return false;
  if ((!lower && a.above < a.cols - 1) || (!upper && a.below < a.rows - 1)) return false; // a band
  const bool both_as_they_are = other == nullptr || outer.scales_u || !(outer.conjugates_u || other->conjugates_u);
  if (!both_as_they_are) return false;
  const bool conjugates_u = outer.conjugates_u && !outer.scales_u;
  const auto lies_ready = [](const Outer<N>& one) { return one.u.is_contiguous() && !one.scales_u; };
  const Index height = lies_ready(outer) && (other == nullptr || lies_ready(*other)) ? a.rows : rows_at_once;
  in_columns(a, [&](Index c0, Index c1) {
    constexpr Index some = 64; // columns whose factors are found at once
    RowsOfOuter<N> rows, other_rows;
    N v[some], w[some];
    for (Index begin = 0; begin < a.rows; begin += height) {
      const Index stop = std::min(a.rows, begin + height), count = stop - begin;
      const N* const u = rows.of(outer, alpha, begin, count);
      const N* const other_u = other != nullptr ? other_rows.of(*other, *beta, begin, count) : u;
      const Index first = std::max(c0, a.first_column(begin)), end = std::min(c1, a.end_column(stop));
      for (Index j0 = first; j0 < end; j0 += some) {
        const Index j1 = std::min(end, j0 + some);
        for (Index j = j0; j < j1; ++j) {
          v[j - j0] = factor_of(alpha, outer, j).v;
          if (other != nullptr) w[j - j0] = factor_of(*beta, *other, j).v;
        }
        const OuterWalk<N> to{.first = a.column(j0) + begin,
                              .step = a.step + a.growth * (j0 + 1),
                              .growth = a.growth,
                              .rows = count,
                              .count = j1 - j0,
                              .part = lower   ? Part::Lower
                                      : upper ? Part::Upper
                                              : Part::All,
                              .offset = j0 - begin};
        if (other != nullptr)
          add_outers(to, u, v, other_u, w);
        else
          add_outer(to, u, v, conjugates_u);
        if constexpr (has_two_parts<N>)
          for (Index j = std::max(j0, begin); a.diagonal == OnDiagonal::Real && j < std::min(j1, stop); ++j)
            a.column(j)[j].im = 0;
      }
    }
  });
  return true;
}
#else
template <class N>
bool update_dense(const Columns<N>&, const N&, const Outer<N>&, const N*, const Outer<N>*) {
  return false;
}
#endif

} // namespace

template <class N>
void update(const Columns<N>& a, const N& alpha, const Outer<N>& outer) noexcept {
  const detail::ContractArithmetic contract;
  if (update_dense<N>(a, alpha, outer, nullptr, nullptr)) return;
  const bool is_rectangle = a.below > 0 && a.above > 0;
  const bool far = is_rectangle && are_far(bytes_of(a)); // triangles were no faster
  const Index height = outer.u.is_contiguous() ? a.rows : rows_at_once;
  in_columns(a, [&](Index c0, Index c1) {
    SideBySide<N, rows_at_once> near;
    for (Index begin = 0; begin < a.rows; begin += height) {
      const N* const u = near.of(outer.u, begin, std::min(height, a.rows - begin));
      for_columns(a, c0, c1, begin, height, [&](Index j, Index first, Index end) {
        update_column<N>(far, {a.column(j) + first, u + (first - begin), end - first}, factor_of(alpha, outer, j));
      });
    }
  });
}

template <class N>
void update(const Columns<N>& a, const N& alpha, const Outer<N>& outer, const N& beta, const Outer<N>& other) noexcept {
  const detail::ContractArithmetic contract;
  if (update_dense<N>(a, alpha, outer, &beta, &other)) return;
  const Index height = outer.u.is_contiguous() && other.u.is_contiguous() ? a.rows : rows_at_once;
  in_columns(a, [&](Index c0, Index c1) {
    SideBySide<N, rows_at_once> near, near_other;
    for (Index begin = 0; begin < a.rows; begin += height) {
      const Index count = std::min(height, a.rows - begin);
      const N* const u = near.of(outer.u, begin, count);
      const N* const w = near_other.of(other.u, begin, count);
      for_columns(a, c0, c1, begin, height, [&](Index j, Index first, Index end) {
        N* const column = a.column(j) + first;
        update_column<N>(false, {column, u + (first - begin), end - first}, factor_of(alpha, outer, j));
        update_column<N>(false, {column, w + (first - begin), end - first}, factor_of(beta, other, j));
      });
    }
  });
}

#define TESSERA_INSTANTIATE(N)                                                                      \
  template TESSERA_API_INSTANCE void update(const Columns<N>&, const N&, const Outer<N>&) noexcept; \
  template TESSERA_API_INSTANCE void update(const Columns<N>&, const N&, const Outer<N>&, const N&, \
                                            const Outer<N>&) noexcept;
TESSERA_INSTANTIATE(float)
TESSERA_INSTANTIATE(double)
TESSERA_INSTANTIATE(ComplexNumber<float>)
TESSERA_INSTANTIATE(ComplexNumber<double>)
#undef TESSERA_INSTANTIATE

} // namespace tessera::vectors
