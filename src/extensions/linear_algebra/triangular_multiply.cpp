/// Products with a triangle, in place. A row of the result has the terms of its triangle's k alone; so a block on the
/// diagonal is no rectangle. It ends the chains of a lower triangle, and begins the chains of an upper one.

#include <tessera/linear_algebra/triangular.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include <tessera/backend/out_of_memory.hpp>
#include <tessera/detail/floating_point.hpp>
#include <tessera/detail/uncancelled.hpp>

#include "model_products.hpp"
#include "sided.hpp"

namespace tessera::linear_algebra {
namespace {

/// A product M·X that takes X's place.
template <class T>
class TriangularProduct {
 public:
  /// `sums` and `padded` have room for panel_width or n numbers of each line, and for as many rows of a segment of M.
  TriangularProduct(const Products<T>& products, const detail::TriangularCall<T>& call, T* sums, T* padded)
      : m_(call),
        n_(call.n),
        block_(std::min(panel_width, call.n)),
        x_{call.b, call.ldb},
        sided_(products, call.side, call.count, x_),
        s_(sided_.scratch(sums, block_)),
        padded_{padded, std::min(segment_length<T>, call.n)} {}

  /// A chain's last terms are in the block on the diagonal: its product goes on with the sums of a rectangle. Rows are
  /// written from the last one on, after all that read them.
  void lower() const {
    for (Index end = n_; end > 0;) {
      const Index first = (end - 1) / segment_length<T> * segment_length<T>;
      for (Index row = first + (end - first - 1) / block_ * block_; row >= first; row -= block_) {
        const DiagonalBlock<T> diagonal(m_.m, end, row, m_.has_unit_diagonal);
        sided_.sums(diagonal.block().size, row - first, m_.m.from(row, first), first, s_);
        const Block<T> x = sided_.numbers(row);
        sided_.in_parts([&](Index begin, Index stop) {
          const Block<T> from = sided_.lines(s_, begin), to = sided_.lines(x, begin);
          if (sided_.is_left())
            multiply_columns(diagonal.block(), stop - begin, to.data, to.ld, from.data, from.ld);
          else
            multiply_rows(diagonal.block(), stop - begin, to.data, to.ld, from.data, from.ld);
        });
      }
      if (first > 0) sided_.add(T(1), end - first, first, m_.m.from(first, 0), 0, first);
      end = first;
    }
  }

  /// A chain's first terms are in the block on the diagonal. Zeros before them change no chain, which begins with +0,
  /// where they meet finite numbers: so a block and what is right of it are a rectangle. Lines with other numbers are
  /// computed term by term.
  void upper() const {
    for (Index first = 0; first < n_; first += segment_length<T>) {
      const Index end = std::min(n_, first + segment_length<T>);
      for (Index row = first; row < end; row += block_) {
        const Index size = std::min(block_, end - row);
        pad(row, size, end);
        sided_.sums(size, end - row, {padded_}, row, s_);
        sided_.in_parts([&](Index begin, Index stop) { take(row, size, end, begin, stop); });
      }
      for (Index next = end; next < n_; next += segment_length<T>)
        sided_.add(T(1), end - first, std::min(segment_length<T>, n_ - next), m_.m.from(first, next), next, first);
    }
  }

 private:
  /// Copies M's rows row … row + size − 1 up to column `end`, with zeros before the diagonal.
  void pad(Index row, Index size, Index end) const {
    for (Index i = 0; i < size; ++i) {
      const Run<T> from = m_.m.row(row + i, row);
      T* const to = padded_.at(i, 0);
      std::fill(to, to + i, T(0));
      to[i] = m_.has_unit_diagonal ? T(1) : from.at(i);
      for (Index k = i + 1; k < end - row; ++k) to[k] = from.at(k);
    }
  }

  /// Makes the numbers row … row + size − 1 of some lines of their sums.
  void take(Index row, Index size, Index end, Index begin, Index stop) const {
    const Block<T> x = sided_.lines(sided_.numbers(row), begin), s = sided_.lines(s_, begin);
    const Index lines = stop - begin;
    const auto copy = [&](Index line, Index count) {
      const Block<T> from = sided_.lines(s, line), to = sided_.lines(x, line);
      const Index rows = sided_.is_left() ? size : count, cols = sided_.is_left() ? count : size;
      for (Index i = 0; i < rows; ++i) std::copy(from.at(i, 0), from.at(i, cols), to.at(i, 0));
    };
    if (are_finite(x, size, lines)) return copy(0, lines);
    for (Index l = 0; l < lines; ++l)
      are_finite(sided_.lines(x, l), size, 1) ? copy(l, 1) : by_terms(row, size, end, sided_.lines(x, l));
  }

  bool are_finite(Block<T> x, Index size, Index lines) const {
    const Index rows = sided_.is_left() ? size : lines, cols = (sided_.is_left() ? lines : size) * Number<T>::parts;
    Part<T> zero = 0; // or NaN
    for (Index i = 0; i < rows; ++i) {
      const Part<T>* const row = reinterpret_cast<const Part<T>*>(x.at(i, 0));
      Part<T> of_row[8] = {};
      Index j = 0;
      for (; j + 8 <= cols; j += 8)
        for (Index l = 0; l < 8; ++l) of_row[l] += row[j + l] * 0;
      for (; j < cols; ++j) of_row[0] += row[j] * 0;
      for (const Part<T> sum : of_row) zero += sum;
    }
    return !std::isnan(zero);
  }

  /// Multiplies a line, whose number `row` is at x.
  void by_terms(Index row, Index size, Index end, Block<T> x) const {
    const Index step = sided_.is_left() ? x.ld : 1;
    for (Index i = 0; i < size; ++i) {
      const Index rest = end - row - i - m_.has_unit_diagonal;
      const Run<T> m = m_.m.row(row + i, end - rest), line{x.data + (end - rest - row) * step, step};
      const T chain = m_.has_unit_diagonal ? T(0) + x.data[i * step] : T(0);
      const T sum = sided_.is_left() ? extend_chain(chain, rest, m, line) : extend_chain(chain, rest, line, m);
      x.data[i * step] = sum;
    }
  }

  SidedCall<T> m_;
  Index n_, block_;
  Block<T> x_;
  Sided<T> sided_;
  Block<T> s_, padded_;
};

template <class T>
void multiply_triangle(const detail::TriangularCall<T>& call, const SolveOptions& options, detail::Shortage shortage) {
  const SidedCall<T> sided(call);
  const auto by_formula = [&] {
    model_multiply(sided.is_lower ? Triangle::Lower : Triangle::Upper, call.alpha, sided.lines(call));
  };
  const auto blocked = [&] {
    const Products<T> products(options, shortage);
    const Index block = std::min(panel_width, call.n);
    std::vector<T> sums(static_cast<std::size_t>(block * call.count)),
        padded(static_cast<std::size_t>(sided.is_lower ? 0 : block * std::min(segment_length<T>, call.n)));
    const TriangularProduct<T> product(products, call, sums.data(), padded.data());
    sided.is_lower ? product.lower() : product.upper();
    scale(call, Block<T>{call.b, call.ldb});
  };
  if (options.backend == Backend::Reference) return by_formula();
  with_or_without_memory(shortage, blocked, by_formula);
}

} // namespace
} // namespace tessera::linear_algebra

namespace tessera::detail {

template <class T>
void triangular_multiply(const TriangularCall<T>& call, const SolveOptions& options, Shortage shortage) try {
  const Uncancelled whole;
  const ContractArithmetic contract;
  if (call.n == 0 || call.count == 0) return;
  if (call.alpha == T(0)) return linear_algebra::scale(call, linear_algebra::Block<T>{call.b, call.ldb});
  linear_algebra::multiply_triangle(call, options, shortage);
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

template void triangular_multiply(const TriangularCall<float>&, const SolveOptions&, Shortage);
template void triangular_multiply(const TriangularCall<double>&, const SolveOptions&, Shortage);
template void triangular_multiply(const TriangularCall<std::complex<float>>&, const SolveOptions&, Shortage);
template void triangular_multiply(const TriangularCall<std::complex<double>>&, const SolveOptions&, Shortage);

} // namespace tessera::detail
