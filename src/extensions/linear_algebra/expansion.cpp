#include "expansion.hpp"

#include <algorithm>

#include "reference/fma_clones.hpp"

namespace tessera::linear_algebra {
namespace {

/// Copies the transpose of A's numbers, which lie in `cols` rows of the memory.
template <class P>
[[gnu::always_inline]] inline void copy_turned(Index rows, Index cols, P sign, const P* from, Index ld, P* to) {
  constexpr Index strip = 8; // rows of the memory whose lines stay in the cache
  for (Index first = 0; first < cols; first += strip)
    for (Index i = 0; i < rows; ++i)
      for (Index p = first; p < std::min(cols, first + strip); ++p) {
        to[2 * (i * cols + p)] = from[2 * (p * ld + i)];
        to[2 * (i * cols + p) + 1] = sign * from[2 * (p * ld + i) + 1];
      }
}

/// Writes the two real rows of a row of complex numbers: `turn` is the sign of im in the second row.
template <class P>
[[gnu::always_inline]] inline void expand_row(Index cols, P sign, P turn, const P* __restrict from, P* __restrict upper,
                                              P* __restrict lower) {
  for (Index j = 0; j < 2 * cols; j += 2) {
    const P re = from[j], im = sign * from[j + 1];
    upper[j] = re;
    upper[j + 1] = -turn * im;
    lower[j] = turn * im;
    lower[j + 1] = re;
  }
}

#define TESSERA_EXPANSION(P)                                                                           \
  TESSERA_FMA_CLONES void turn_pairs(Index rows, Index cols, P sign, const P* from, Index ld, P* to) { \
    copy_turned(rows, cols, sign, from, ld, to);                                                       \
  }                                                                                                    \
  TESSERA_FMA_CLONES void expand(Index cols, P sign, P turn, const P* from, P* upper, P* lower) {      \
    expand_row(cols, sign, turn, from, upper, lower);                                                  \
  }
TESSERA_EXPANSION(float)
TESSERA_EXPANSION(double)
#undef TESSERA_EXPANSION

} // namespace

template <class P>
Factor<P> as_pairs(const Factor<std::complex<P>>& a, Index n, Index k, P* to) {
  if (a.op == Op::None && !a.conjugate) return {{reinterpret_cast<const P*>(a.stored.data), 2 * a.stored.ld}};
  if (a.op != Op::None) {
    turn_pairs(n, k, a.conjugate ? P(-1) : P(1), reinterpret_cast<const P*>(a.stored.data), a.stored.ld, to);
    return {{to, 2 * k}};
  }
  for (Index i = 0; i < n; ++i)
    for (Index p = 0; p < k; ++p) {
      const std::complex<P> x = a.at(i, p);
      to[2 * (i * k + p)] = x.real();
      to[2 * (i * k + p) + 1] = x.imag();
    }
  return {{to, 2 * k}};
}

template <class P>
Factor<P> as_squares(const Factor<std::complex<P>>& b, Index k, Index n, P* to) {
  const bool straight = b.op == Op::None;
  const Index rows = straight ? k : n, cols = straight ? n : k;
  for (Index i = 0; i < rows; ++i) {
    P* const upper = to + 4 * i * cols;
    expand(cols, b.conjugate ? P(-1) : P(1), straight ? P(-1) : P(1), reinterpret_cast<const P*>(b.stored.at(i, 0)),
           upper, upper + 2 * cols);
  }
  return {{to, 2 * cols}, b.op};
}

#define TESSERA_INSTANTIATE(P)                                                   \
  template Factor<P> as_pairs(const Factor<std::complex<P>>&, Index, Index, P*); \
  template Factor<P> as_squares(const Factor<std::complex<P>>&, Index, Index, P*);
TESSERA_INSTANTIATE(float)
TESSERA_INSTANTIATE(double)
#undef TESSERA_INSTANTIATE

} // namespace tessera::linear_algebra
