#include "expanded.hpp"

#include <algorithm>
#include <vector>

#include "core/complex/scratch.hpp"

namespace tessera::linear_algebra {
namespace {

/// Sums of real numbers, which are multiplied by complex factors after them, some rows of a block at a time.
template <class P>
class CombinedSums {
 public:
  /// With memory for blocks of up to so many complex columns.
  explicit CombinedSums(P* memory) : memory_(memory) {}
  static Index memory_for(Index cols) { return 2 * strip_rows * cols; }

  /// C = alpha·S + beta·C, m×n complex numbers. sums(first, rows, s) computes rows of S. A small block needs no memory
  /// but the stack's, so that several threads may compute one each.
  template <class Sums>
  void combine(const Products<P>& products, std::complex<P> alpha, Index m, Index n, const Sums& sums,
               std::complex<P> beta, Block<std::complex<P>> c) const {
    P small[2 * small_size * small_size];
    const bool is_small = m <= small_size && n <= small_size;
    const Block<P> s{is_small ? small : memory_, 2 * n};
    for (Index first = 0; first < m; first += strip_rows) {
      const Index rows = std::min(strip_rows, m - first);
      sums(first, rows, s);
      products.map({.op = MapOp::CombineComplex,
                    .type = dtype_of<P>,
                    .rows = rows,
                    .cols = n,
                    .alpha = detail::exact_double(alpha.real()),
                    .beta = detail::exact_double(beta.real()),
                    .x = s.data,
                    .ldx = n,
                    .y = c.at(first, 0),
                    .ldy = c.ld,
                    .z = c.at(first, 0),
                    .ldz = c.ld,
                    .alpha_imaginary = detail::exact_double(alpha.imag()),
                    .beta_imaginary = detail::exact_double(beta.imag())});
    }
  }

 private:
  static constexpr Index strip_rows = 256, small_size = triangle_of_a_thread / 2; ///< no bit depends on them
  static_assert(small_size >= diagonal_size);
  P* memory_;
};

} // namespace

template <class P>
void expanded_triangle_product(const Products<P>& products, const TriangleOf<std::complex<P>>& to, Index k,
                               std::span<const Term<std::complex<P>>> terms, std::complex<P> beta) {
  struct RealTerm {
    std::complex<P> alpha;
    Factor<P> a, b;
  };
  // The thread keeps this memory for the next product: fresh pages cost as much as a small one.
  detail::ComplexScratch memory(products.host());
  const Index pairs = 2 * to.n * k, squares = 2 * pairs, count = std::ssize(terms) * (pairs + squares);
  throw_if_failed(memory.allocate(products.host().default_queue(),
                                  static_cast<std::size_t>(count + CombinedSums<P>::memory_for(to.n)) * sizeof(P)));
  P* next = reinterpret_cast<P*>(memory.data());
  std::vector<RealTerm> real;
  for (const auto& term : terms) {
    real.push_back({term.alpha, as_pairs(term.a, to.n, k, next), as_squares(term.b, k, to.n, next + pairs)});
    next += pairs + squares;
  }
  const CombinedSums<P> combined(next);
  const auto rectangle = [&](const Products<P>& by, Index m, Index n, Index i, Index j, std::complex<P> scale,
                             Block<std::complex<P>> c) {
    for (const RealTerm& term : real) {
      const Factor<P> a = term.a.from(i, 0), b = term.b.from(0, 2 * j);
      if (term.alpha.imag() == 0 && scale.imag() == 0)
        by.multiply(term.alpha.real(), m, 2 * n, 2 * k, a, b, scale.real(), {reinterpret_cast<P*>(c.data), 2 * c.ld});
      else
        combined.combine(
            by, term.alpha, m, n,
            [&](Index first, Index rows, Block<P> s) { by.sums(rows, 2 * n, 2 * k, a.from(first, 0), b, s); }, scale,
            c);
      scale = 1;
    }
  };
  TriangleParts(products, to, beta, rectangle);
}

template void expanded_triangle_product(const Products<float>&, const TriangleOf<std::complex<float>>&, Index,
                                        std::span<const Term<std::complex<float>>>, std::complex<float>);
template void expanded_triangle_product(const Products<double>&, const TriangleOf<std::complex<double>>&, Index,
                                        std::span<const Term<std::complex<double>>>, std::complex<double>);

} // namespace tessera::linear_algebra
