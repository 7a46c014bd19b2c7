#pragma once

/// The inner loops of the BLAS's level 2: a few neighbouring columns of a matrix continue the chains of a product.

#include <type_traits>

#include "columns.hpp"
#include "near_far.hpp"

namespace tessera::vectors {

/// k of a product is cut where it is a multiple of this: docs/contract.md ("Strict products", "Complex products").
template <class N>
inline constexpr Index segment = has_two_parts<N> ? 512 : 1024;

/// The most rows or columns whose chains are continued together: neighbours of a column for several pages.
template <class N>
inline constexpr Index most_chains = Index{16384} / static_cast<Index>(sizeof(N));
static_assert(most_chains<ComplexNumber<double>> >= segment<ComplexNumber<double>>);

/// A chain for each of some rows or columns. Parts are kept apart.
template <class N>
struct Chains {
  alignas(64) RealOf<N> part[Parts<N>::count][most_chains<N>];

  void begin(Index count, RealOf<N> value = 0) {
    for (auto& values : part) std::fill(values, values + count, value);
  }
  N at(Index i) const {
    if constexpr (has_two_parts<N>)
      return {part[0][i], part[1][i]};
    else
      return part[0][i];
  }
  /// Adds the sums of a segment to the sums of the segments before it.
  void add(const Chains& chains, Index begin, Index end) {
    for (int p = 0; p < Parts<N>::count; ++p)
      for (Index i = begin; i < end; ++i) part[p][i] += chains.part[p][i];
  }
};

/// Neighbouring columns in the order in which a chain takes them.
template <class N>
struct Group {
  static constexpr int most = 16;

  Group(const Columns<const N>& a, Index begin, Index stop, bool from_last, bool conjugated_numbers)
      : count(static_cast<int>(stop - begin)),
        diagonal(a.diagonal),
        conjugated(conjugated_numbers),
        descending(from_last),
        far(!has_two_parts<N> &&
            are_far(a.cols * std::min(a.rows, a.below + a.above + 1) * static_cast<Index>(sizeof(N)))),
        below(a.below),
        above(a.above) {
    for (int q = 0; q < count; ++q) {
      number[q] = descending ? stop - 1 - q : begin + q;
      column[q] = a.column(number[q]);
    }
    first = a.first(begin);
    last_first = a.first(stop - 1);
    first_end = a.end(begin);
    end = a.end(stop - 1);
  }

  /// The columns q that have row i are begin_with(i) … end_with(i) − 1.
  int begin_with(Index i) const {
    const Index before = descending ? number[0] - (i + above) : i - below - number[0];
    return static_cast<int>(std::clamp<Index>(before, 0, count));
  }
  int end_with(Index i) const {
    const Index last = descending ? number[0] - (i - below) : i + above - number[0];
    return static_cast<int>(std::clamp<Index>(last + 1, 0, count));
  }

  int count;
  OnDiagonal diagonal;
  bool conjugated, descending;
  bool far; ///< the matrix comes from memory
  Index below, above;
  Index first, last_first; ///< of the rows of the column with the lowest number, and of the one with the highest
  Index first_end, end;    ///< where their rows end
  Index number[most];
  const N* column[most];
};

/// chain(i) goes on with a(i, k)·x(k) for the group's columns k and the rows i = r0 … r1 − 1; x[q] belongs to column q
/// of the group, and chain(i) is at place i − base.
void add_columns(const Group<float>& group, const float* x, Index r0, Index r1, Index base, Chains<float>& chains);
void add_columns(const Group<double>& group, const double* x, Index r0, Index r1, Index base, Chains<double>& chains);
void add_columns(const Group<ComplexNumber<float>>& group, const ComplexNumber<float>* x, Index r0, Index r1,
                 Index base, Chains<ComplexNumber<float>>& chains);
void add_columns(const Group<ComplexNumber<double>>& group, const ComplexNumber<double>* x, Index r0, Index r1,
                 Index base, Chains<ComplexNumber<double>>& chains);

/// chain(k) goes on with a(i, k)·x(i) for the rows i = r0 … r1 − 1, ascending or descending; x(i) is x[i − r0], and
/// chain(k) is at place k − k0.
void add_rows(const Group<float>& group, const float* x, Index r0, Index r1, bool descending, Index k0,
              Chains<float>& chains);
void add_rows(const Group<double>& group, const double* x, Index r0, Index r1, bool descending, Index k0,
              Chains<double>& chains);
void add_rows(const Group<ComplexNumber<float>>& group, const ComplexNumber<float>* x, Index r0, Index r1,
              bool descending, Index k0, Chains<ComplexNumber<float>>& chains);
void add_rows(const Group<ComplexNumber<double>>& group, const ComplexNumber<double>* x, Index r0, Index r1,
              bool descending, Index k0, Chains<ComplexNumber<double>>& chains);

/// The square of a group's own rows and columns of a symmetric or Hermitian matrix, of which one triangle is stored:
/// chain(i) goes on with a(i, k)·x(k) for the group's k, ascending. x(k) is x[k − base], chain(i) at place i − base.
#define TESSERA_SQUARE(N) \
  void add_square(const Group<N>& group, bool upper, bool hermitian, const N* x, Index base, Chains<N>& chains);
TESSERA_SQUARE(float)
TESSERA_SQUARE(double)
TESSERA_SQUARE(ComplexNumber<float>)
TESSERA_SQUARE(ComplexNumber<double>)
#undef TESSERA_SQUARE

/// Solves for the unknowns of a group, one after another: x(k) := (x(k) − chain(k)) / t(k, k), where the chains go on
/// with the unknowns that the group has found before. The triangle is the stored one, or its transpose.
#define TESSERA_SOLVE(N) \
  void solve_group(const Group<N>& group, bool transposed, const Strided<N>& x, Index base, Chains<N>& chains);
TESSERA_SOLVE(float)
TESSERA_SOLVE(double)
TESSERA_SOLVE(ComplexNumber<float>)
TESSERA_SOLVE(ComplexNumber<double>)
#undef TESSERA_SOLVE

/// y(i) := alpha·s(i) + beta·y(i), or beta·y(i) where `has_terms` is false: the end of a product.
void finish(const Chains<float>& s, bool has_terms, float alpha, float beta, const Strided<float>& y);
void finish(const Chains<double>& s, bool has_terms, double alpha, double beta, const Strided<double>& y);
void finish(const Chains<ComplexNumber<float>>& s, bool has_terms, const ComplexNumber<float>& alpha,
            const ComplexNumber<float>& beta, const Strided<ComplexNumber<float>>& y);
void finish(const Chains<ComplexNumber<double>>& s, bool has_terms, const ComplexNumber<double>& alpha,
            const ComplexNumber<double>& beta, const Strided<ComplexNumber<double>>& y);

} // namespace tessera::vectors
