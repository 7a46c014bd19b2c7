/// Products with a triangle, in place, by a backend that packs triangles or by products of rectangles. A row of the
/// result has the terms of its triangle's k alone; so a block on the diagonal is no rectangle. It ends the chains of a
/// lower triangle, and begins the chains of an upper one.

#include <tessera/linear_algebra/triangular.hpp>

#include <algorithm>

#include "extensions/linear_algebra/host_numbers.hpp"
#include "extensions/linear_algebra/on_host.hpp"
#include "triangle_as_stored.hpp"

namespace tessera::linear_algebra {
namespace {

/// The numbers of a line that are computed at once: large blocks have more zeros, small ones read X more often, and
/// they are rows of `gemm`'s tiles on the left side and vectors of these on the right. No bit depends on it.
template <class T>
Index block_size(Side side, Index n) {
  if (n >= 400) return 48;
  return side == Side::Left || sizeof(Part<T>) == 8 ? 24 : 32;
}

/// A product M·X that takes X's place.
template <class T>
class TriangularProduct {
 public:
  /// `is_plain`: zeros may stand for what is outside the triangle.
  TriangularProduct(const Products<T>& products, const detail::TriangularCall<T>& call, bool is_plain)
      : m_(call),
        n_(call.n),
        x_{call.b, call.ldb},
        sided_(products, call.side, call.count, x_),
        is_plain_(is_plain),
        block_(std::min(n_, is_plain_ ? block_size<T>(call.side, n_) : panel_width)),
        sums_(block_ * call.count),
        s_(sided_.scratch(sums_.data(), block_)),
        padded_(block_ * std::min(n_, segment_length<T>)) {
    // Where a chain has one segment, the products themselves multiply by alpha.
    if (is_plain_ && n_ <= segment_length<T>) alpha_ = call.alpha;
  }

  void run() { m_.is_lower ? lower() : upper(); }
  bool has_scaled(T alpha) const { return alpha_ == alpha; }

 private:
  /// A chain's last terms are in the block on the diagonal. With zeros after them a block and what is left of it are a
  /// rectangle; where zeros might be seen, the block's product goes on with the sums of what is left of it. Rows are
  /// written from the last one on, after all that read them.
  void lower() {
    for (Index end = n_; end > 0;) {
      const Index first = (end - 1) / segment_length<T> * segment_length<T>;
      for (Index row = first + (end - first - 1) / block_ * block_; row >= first; row -= block_) {
        const Index size = std::min(block_, end - row);
        if (!is_plain_) {
          end_chains(row, first, end);
          continue;
        }
        sided_.multiply(alpha_, size, row + size - first, padded(row, size, first, row + size), first, s_);
        sided_.in_parts([&](Index begin, Index stop) { take(row, size, end, begin, stop); });
      }
      if (first > 0) sided_.add(T(1), end - first, first, m_.m.from(first, 0), 0, first);
      end = first;
    }
  }

  /// A chain's first terms are in the block on the diagonal. Zeros before them change no chain, which begins with +0,
  /// where they meet finite numbers: so a block and what is right of it are a rectangle. Lines with other numbers are
  /// computed term by term.
  void upper() {
    for (Index first = 0; first < n_; first += segment_length<T>) {
      const Index end = std::min(n_, first + segment_length<T>);
      for (Index row = first; row < end; row += block_) {
        const Index size = std::min(block_, end - row);
        sided_.multiply(alpha_, size, end - row, padded(row, size, row, end), row, s_);
        sided_.in_parts([&](Index begin, Index stop) { take(row, size, end, begin, stop); });
      }
      for (Index next = end; next < n_; next += segment_length<T>)
        sided_.add(T(1), end - first, std::min(segment_length<T>, n_ - next), m_.m.from(first, next), next, first);
    }
  }

  /// Copies M's rows row … row + size − 1 from column `begin` to `end`, with zeros outside the triangle.
  Factor<T> padded(Index row, Index size, Index begin, Index end) {
    const bool straight = m_.m.op == Op::None, keeps_before = m_.is_lower == straight;
    const Factor<T> from = m_.m.from(row, begin);
    const Index rows = straight ? size : end - begin, cols = straight ? end - begin : size;
    const Index diagonal = straight ? row - begin : begin - row; // the column of it in the first stored row
    const Block<T> to{padded_.data(), cols};
    for (Index i = 0; i < rows; ++i) {
      const Index middle = std::clamp<Index>(diagonal + i, 0, cols),
                  after = std::clamp<Index>(diagonal + i + 1, 0, cols);
      if (keeps_before) {
        std::copy(from.stored.at(i, 0), from.stored.at(i, m_.has_unit_diagonal ? middle : after), to.at(i, 0));
        std::fill(to.at(i, after), to.at(i, cols), T(0));
      } else {
        std::fill(to.at(i, 0), to.at(i, middle), T(0));
        const Index kept = m_.has_unit_diagonal ? after : middle;
        std::copy(from.stored.at(i, kept), from.stored.at(i, cols), to.at(i, kept));
      }
      if (m_.has_unit_diagonal && middle < after) *to.at(i, middle) = T(1);
    }
    return {to, from.op, from.conjugate};
  }

  /// The sums of what is left of a block on the diagonal go on with the block's product.
  void end_chains(Index row, Index first, Index end) {
    const DiagonalBlock<T> diagonal(m_.m, row, std::min(block_, end - row), m_.has_unit_diagonal);
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

  /// Makes the numbers row … row + size − 1 of some lines of their sums.
  void take(Index row, Index size, Index end, Index begin, Index stop) const {
    const Block<T> x = sided_.lines(sided_.numbers(row), begin), s = sided_.lines(s_, begin);
    const Index lines = stop - begin;
    const auto copy = [&](Index line, Index count) {
      const Block<T> from = sided_.lines(s, line), to = sided_.lines(x, line);
      const Index rows = sided_.is_left() ? size : count, cols = sided_.is_left() ? count : size;
      for (Index i = 0; i < rows; ++i) std::copy(from.at(i, 0), from.at(i, cols), to.at(i, 0));
    };
    if (is_plain_ || are_finite(x, size, lines)) return copy(0, lines);
    for (Index l = 0; l < lines; ++l)
      are_finite(sided_.lines(x, l), size, 1) ? copy(l, 1) : by_terms(row, size, end, sided_.lines(x, l));
  }

  bool are_finite(Block<T> x, Index size, Index lines) const {
    const bool is_left = sided_.is_left();
    return magnitudes_of(
               NumbersInRows<T>{
                   .rows = is_left ? size : lines, .first = x.data, .step = x.ld, .count = is_left ? lines : size})
        .are_finite;
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
  Index n_;
  Block<T> x_;
  Sided<T> sided_;
  bool is_plain_;
  T alpha_ = T(1); ///< what the results have been multiplied by
  Index block_;
  Scratch<T> sums_;
  Block<T> s_;
  Scratch<T> padded_;
};

template <class T>
void multiply_triangle(const detail::TriangularCall<T>& call, const SolveOptions& options, detail::Shortage shortage) {
  const SidedCall<T> sided(call);
  Index done = 0; // lines
  const auto rest = [&] { return lines_of(call, done, call.count - done); };
  const auto by_formula = [&] {
    model_multiply(sided.is_lower ? Triangle::Lower : Triangle::Upper, call.alpha, sided.lines(rest()));
  };
  const auto blocked = [&](detail::Shortage now) {
    const Products<T> products(options, now);
    if (call.n <= segment_length<T> &&
        Sided<T>(products, call.side, call.count, {call.b, call.ldb})
            .computes_in_tiles(TriangleTask::Multiply, 0, call.n, sided.triangle(), call.alpha))
      return;
    const Magnitudes<Part<T>> of_triangle = magnitudes_of_triangle(call);
    products.run_steps(work_of(call), [&] {
      done = lines_as_stored(products, call, of_triangle);
      if (done == call.count) return;
      const detail::TriangularCall<T> left = rest();
      const bool is_plain = can_be_padded(of_triangle, magnitudes_of_lines(left));
      TriangularProduct<T> product(products, left, is_plain);
      if (!is_plain) begin_result(now); // before the first product
      product.run();
      if (!product.has_scaled(left.alpha)) scale(left, Block<T>{left.b, left.ldb});
    });
  };
  if (options.backend == Backend::Reference) return by_formula();
  complete_in_place(shortage, blocked, by_formula);
}

} // namespace

template <class T>
void multiply_triangle_on_host(const detail::TriangularCall<T>& call, const SolveOptions& options,
                               detail::Shortage shortage) {
  if (call.n == 0 || call.count == 0) return;
  if (call.alpha == T(0)) return scale(call, Block<T>{call.b, call.ldb});
  multiply_triangle(call, options, shortage);
}

#define TESSERA_INSTANTIATE(T) \
  template void multiply_triangle_on_host(const detail::TriangularCall<T>&, const SolveOptions&, detail::Shortage);
TESSERA_INSTANTIATE(float)
TESSERA_INSTANTIATE(double)
TESSERA_INSTANTIATE(std::complex<float>)
TESSERA_INSTANTIATE(std::complex<double>)
#undef TESSERA_INSTANTIATE

} // namespace tessera::linear_algebra
