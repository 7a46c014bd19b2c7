#include "expanded.hpp"

#include <memory>
#include <vector>

namespace tessera::linear_algebra {
namespace {

/// An operand as real numbers, and the memory that it may have of its own.
template <class P>
struct RealFactor {
  Factor<P> factor;
  std::unique_ptr<P[]> memory;
};

/// Returns A, n×k, as n×2k real numbers: as it is stored, or a copy.
template <class P>
RealFactor<P> as_pairs(const Factor<std::complex<P>>& a, Index n, Index k) {
  if (a.op == Op::None && !a.conjugate)
    return {{{reinterpret_cast<const P*>(a.stored.data), 2 * a.stored.ld}}, nullptr};
  RealFactor<P> pairs{{}, std::make_unique_for_overwrite<P[]>(static_cast<std::size_t>(2 * n * k))};
  P* const to = pairs.memory.get();
  pairs.factor.stored = {to, 2 * k};
  constexpr Index strip = 8; // columns of A whose rows stay in cache
  for (Index first = 0; first < k; first += strip)
    for (Index i = 0; i < n; ++i)
      for (Index p = first; p < std::min(k, first + strip); ++p) {
        const std::complex<P> x = a.at(i, p);
        to[2 * (i * k + p)] = x.real();
        to[2 * (i * k + p) + 1] = x.imag();
      }
  return pairs;
}

/// Returns B, k×n, with [[re, im], [−im, re]] for each number: 2k×2n, or the transpose of that where B is a transpose.
template <class P>
RealFactor<P> as_squares(const Factor<std::complex<P>>& b, Index k, Index n) {
  const bool straight = b.op == Op::None;
  const Index rows = straight ? k : n, cols = straight ? n : k;
  RealFactor<P> squares{{}, std::make_unique_for_overwrite<P[]>(static_cast<std::size_t>(4 * k * n))};
  squares.factor = {{squares.memory.get(), 2 * cols}, b.op};
  for (Index i = 0; i < rows; ++i) {
    P* const upper = squares.memory.get() + 4 * i * cols;
    P* const lower = upper + 2 * cols;
    const auto* const from = reinterpret_cast<const P*>(b.stored.at(i, 0));
    for (Index j = 0; j < 2 * cols; j += 2) {
      const P re = from[j], im = b.conjugate ? -from[j + 1] : from[j + 1];
      upper[j] = re;
      upper[j + 1] = straight ? im : -im;
      lower[j] = straight ? -im : im;
      lower[j + 1] = re;
    }
  }
  return squares;
}

} // namespace

template <class P>
void expanded_triangle_product(const Products<P>& products, const TriangleOf<std::complex<P>>& to, Index k,
                               std::span<const Term<std::complex<P>>> terms, std::complex<P> beta) {
  struct RealTerm {
    P alpha;
    RealFactor<P> a, b;
  };
  std::vector<RealTerm> real;
  for (const auto& term : terms)
    real.push_back({term.alpha.real(), as_pairs(term.a, to.n, k), as_squares(term.b, k, to.n)});
  const auto rectangle = [&](Index m, Index n, Index i, Index j, std::complex<P> scale, Block<std::complex<P>> c) {
    P real_scale = scale.real();
    for (const RealTerm& term : real) {
      products.multiply(term.alpha, m, 2 * n, 2 * k, term.a.factor.from(i, 0), term.b.factor.from(0, 2 * j), real_scale,
                        {reinterpret_cast<P*>(c.data), 2 * c.ld});
      real_scale = 1;
    }
  };
  TriangleParts(to, beta, rectangle);
}

template void expanded_triangle_product(const Products<float>&, const TriangleOf<std::complex<float>>&, Index,
                                        std::span<const Term<std::complex<float>>>, std::complex<float>);
template void expanded_triangle_product(const Products<double>&, const TriangleOf<std::complex<double>>&, Index,
                                        std::span<const Term<std::complex<double>>>, std::complex<double>);

} // namespace tessera::linear_algebra
