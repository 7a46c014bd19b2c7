/// The inverse of a triangle. It is made in memory of its own, where zeros stand above the diagonal of blocks on it: a
/// zero before the first term of a chain, times a finite number, leaves the chain at the +0 with which it begins. So
/// panels take their sums from rectangles. The rest of that memory is not touched, because fresh pages cost time.

#include <tessera/linear_algebra/inverse.hpp>

#include <algorithm>

#include "extensions/linear_algebra/enter.hpp"
#include "extensions/linear_algebra/host_numbers.hpp"
#include "extensions/linear_algebra/level3/magnitudes.hpp"
#include "extensions/linear_algebra/sided.hpp"
#include "inverse_model.hpp"

namespace tessera::linear_algebra {
namespace {

/// X of M·X = I for a lower triangle M; or of X·Mᵀ = I, where "number i of line l" is element (l, i).
template <class T>
class TriangularInverse {
 public:
  TriangularInverse(const Products<T>& products, Side side, Factor<T> m, bool has_unit_diagonal, Index n)
      : products_(products),
        is_left_(side == Side::Left),
        m_(m),
        has_unit_diagonal_(has_unit_diagonal),
        n_(n),
        block_(n < 600 ? 64 : 128), // no bit depends on it
        memory_(n * n),
        sums_(n * std::min(n, panel_width)),
        s_{sums_.data(), is_left_ ? n : std::min(n, panel_width)} {}

  void run() const {
    const Index width = n_ < 400 ? panel_width / 2 : panel_width; // small panels leave little to substitution
    for (Index first = 0; first < n_; first += segment_length<T>) {
      const Index end = std::min(n_, first + segment_length<T>);
      for (Index row = first; row < end; row += width) panel(first, row, std::min(width, end - row));
      if (end == n_) return;
      clear(at(numbers(end), 0, first), n_ - end, end - first);
      multiply(T(-1), end, n_ - end, first, end, T(1), numbers(end));
    }
  }

  /// Writes X in the place of the triangle that it is the inverse of.
  void write(Block<T> a) const {
    for (Index i = 0; i < n_; ++i) {
      const T* const from = memory_.get() + i * n_;
      const Index begin = is_left_ ? 0 : i + has_unit_diagonal_, end = is_left_ ? i + !has_unit_diagonal_ : n_;
      if (begin < end) std::copy(from + begin, from + end, a.at(i, begin));
    }
  }

 private:
  Block<T> at(Block<T> of, Index number, Index line) const {
    return is_left_ ? of.from(number, line) : of.from(line, number);
  }
  /// Returns X from number i on.
  Block<T> numbers(Index i) const { return at({memory_.get(), n_}, i, 0); }

  /// The numbers row … row + size − 1 of the lines before `end` become alpha·M·X + beta·C, with the numbers first … end
  /// − 1 of X: lines from `first` on in blocks, because their numbers begin there.
  void multiply(T alpha, Index row, Index size, Index first, Index end, T beta, Block<T> c) const {
    for (Index line = 0; line < end;) {
      const Index stop = line < first ? first : std::min(end, line + block_), begin = std::max(first, line);
      const Factor<T> m = m_.from(row, begin), x{at({memory_.get(), n_}, begin, line)};
      if (is_left_)
        products_.multiply(alpha, size, stop - line, end - begin, m, x, beta, at(c, 0, line));
      else
        products_.multiply(alpha, stop - line, size, end - begin, x, m.transposed(), beta, at(c, 0, line));
      line = stop;
    }
  }

  /// Solves for the numbers row … row + size − 1. What a segment before the one from `first` on left is in X already.
  void panel(Index first, Index row, Index size) const {
    if (row > first)
      multiply(T(1), row, size, first, row, T(0), s_);
    else
      clear(s_, size, row);
    clear(at(s_, 0, row), size, size);
    const Block<T> x = numbers(row);
    const Index end = std::min({n_, first + segment_length<T>, row + block_ - (row - first) % block_}); // of its block
    clear(at(x, 0, first), size, end - first);
    for (Index i = 0; i < size; ++i) *at(x, i, row + i).data = 1;
    const DiagonalBlock<T> diagonal(m_, row, size, has_unit_diagonal_);
    products_.in_parts(row + size, lines_for_a_thread, [&](Index begin, Index stop) {
      const Block<T> from = at(s_, 0, begin), to = at(x, 0, begin);
      if (is_left_)
        solve_columns(diagonal.block(), stop - begin, to.data, to.ld, from.data, from.ld);
      else
        solve_rows(diagonal.block(), stop - begin, to.data, to.ld, from.data, from.ld);
    });
  }

  /// So many numbers of some lines become 0.
  void clear(Block<T> of, Index size, Index lines) const {
    const Index rows = is_left_ ? size : lines, cols = is_left_ ? lines : size;
    for (Index i = 0; i < rows; ++i) std::fill(of.at(i, 0), of.at(i, cols), T(0));
  }

  const Products<T>& products_;
  bool is_left_;
  Factor<T> m_;
  bool has_unit_diagonal_;
  Index n_, block_;
  HostNumbers<T> memory_;
  Scratch<T> sums_;
  Block<T> s_;
};

/// Can zeros stand before the first terms of chains? Every number that they meet is finite, and no zero divides them.
template <class T>
bool takes_zeros(Triangle triangle, bool has_unit_diagonal, Index n, Block<const T> a) {
  const bool is_lower = triangle == Triangle::Lower;
  const NumbersInRows<T> all{.rows = n,
                             .first = is_lower ? a.data : a.data + has_unit_diagonal,
                             .step = is_lower ? a.ld : a.ld + 1,
                             .count = is_lower ? 1 - has_unit_diagonal : n - has_unit_diagonal,
                             .more = is_lower ? 1 : -1};
  if (!magnitudes_of(all).are_finite) return false;
  for (Index i = 0; i < n && !has_unit_diagonal; ++i)
    if (*a.at(i, i) == T(0)) return false;
  return true;
}

template <class T>
void invert(Triangle triangle, Diagonal diagonal, Index n, Block<T> a, const SolveOptions& options,
            detail::Shortage shortage) {
  const bool is_lower = triangle == Triangle::Lower, is_unit = diagonal == Diagonal::Unit;
  const auto by_formula = [&] { model_invert(is_lower ? Op::None : Op::Transpose, n, is_unit, a); };
  if (options.backend == Backend::Reference || !takes_zeros<T>(triangle, is_unit, n, a)) return by_formula();
  const auto blocked = [&] {
    const Products<T> products(options, shortage);
    const Factor<T> stored{a};
    const TriangularInverse<T> inverse(products, is_lower ? Side::Left : Side::Right,
                                       is_lower ? stored : stored.transposed(), is_unit, n);
    products.run_steps(product_work(n, n, n) / 6, [&] { inverse.run(); });
    inverse.write(a);
  };
  with_or_without_memory(shortage, blocked, by_formula);
}

} // namespace
} // namespace tessera::linear_algebra

namespace tessera::detail {

template <class T>
void invert_triangle(Triangle triangle, Diagonal diagonal, Index n, T* a, Index lda, const SolveOptions& options,
                     Shortage shortage) {
  linear_algebra::enter("invert_triangle", options, [&] {
    if (n > 0) linear_algebra::invert<T>(triangle, diagonal, n, {a, lda}, options, shortage);
  });
}

template void invert_triangle(Triangle, Diagonal, Index, float*, Index, const SolveOptions&, Shortage);
template void invert_triangle(Triangle, Diagonal, Index, double*, Index, const SolveOptions&, Shortage);
template void invert_triangle(Triangle, Diagonal, Index, std::complex<float>*, Index, const SolveOptions&, Shortage);
template void invert_triangle(Triangle, Diagonal, Index, std::complex<double>*, Index, const SolveOptions&, Shortage);

} // namespace tessera::detail
