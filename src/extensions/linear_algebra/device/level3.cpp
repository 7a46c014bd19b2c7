#include "level3.hpp"

#include <algorithm>
#include <utility>

#include "triangle_copy.hpp"

namespace tessera::linear_algebra::device {
namespace {

/// Returns how many rows of a block on the diagonal are one product: fewer ones multiply fewer zeros, and many fill
/// the device. No bit depends on it.
Index rows_of_product(Index count, Index segment) {
  constexpr Index elements = Index{1} << 21, unit = 128;
  return std::clamp(elements / count / unit * unit, unit, segment);
}

} // namespace

TriangularProduct::TriangularProduct(const Steps& steps, const detail::TriangularForm& form, Index n, Index count)
    : steps_(steps),
      form_(form),
      n_(n),
      count_(count),
      segment_(std::min(n, steps.segment())),
      is_left_(form.side == Side::Left),
      is_turned_((form.op == Op::None) != is_left_),
      is_lower_((form.triangle == Triangle::Lower) != is_turned_),
      copy_(steps, true, is_left_ ? n : count, is_left_ ? count : n),
      square_(steps, true, segment_, segment_),
      least_(steps.numbers(2)) {
  steps.expect_memory_of_products();
}

/// X keeps its numbers in the copy. A chain's segments come in ascending k: of a lower triangle the block on the
/// diagonal has the last one, which is added to the sum of the others, and of an upper one the first.
void TriangularProduct::run(std::complex<double> alpha, Place t, Place x, bool& begins) const {
  const Index rows = is_left_ ? n_ : count_, cols = is_left_ ? count_ : n_;
  steps_.scale(rows, cols, 1, x, copy_.place());
  if (is_lower_) find_least(rows, cols, copy_.place(), 1);
  for (Index first = 0; first < n_; first += segment_) {
    const Range here{first, std::min(n_, first + segment_)};
    multiply_diagonal(t, here, x);
    begins = true;
    if (first > 0) is_lower_ ? add(t, here, {0, first}, x) : add(t, {0, first}, here, x);
  }
  if (alpha != 1.0) steps_.scale(rows, cols, alpha, x, x);
}

void TriangularProduct::multiply_diagonal(Place t, Range segment, Place x) const {
  const Index size = segment.size(), rows = rows_of_product(count_, segment_);
  const Place block = t.at(segment.first, segment.first), square = square_.place();
  steps_.panel({.op = PanelOp::TriangleAlone,
                .rows = size,
                .cols = size,
                .a = square.data,
                .lda = square.ld,
                .has_unit_diagonal = form_.diagonal == Diagonal::Unit,
                .x = block.data,
                .ldx = block.ld,
                .is_upper = form_.triangle == Triangle::Upper});
  if (is_lower_) find_least(size, size, square, 0);
  for (Index i = 0; i < size; i += rows) {
    const Range to{i, std::min(size, i + rows)}, of = is_lower_ ? Range{0, to.end} : Range{i, size};
    product({segment.first + to.first, segment.first + to.end}, {segment.first + of.first, segment.first + of.end},
            part(square, to, of), 0, x);
  }
  correct(block, segment, x);
}

/// Adds the products of some numbers of each line to others.
void TriangularProduct::add(Place t, Range to, Range of, Place x) const { product(to, of, part(t, to, of), 1, x); }

void TriangularProduct::product(Range to, Range of, Place factor, double beta, Place x) const {
  const Place from = numbers(copy_.place(), of.first), result = numbers(x, to.first);
  if (is_left_)
    steps_.multiply({.m = to.size(), .n = count_, .k = of.size()}, 1, factor, form_.op, from, Op::None, beta, result);
  else
    steps_.multiply({.m = count_, .n = to.size(), .k = of.size()}, 1, from, Op::None, factor, form_.op, beta, result);
}

void TriangularProduct::find_least(Index rows, Index cols, Place x, Index which) const {
  steps_.panel({.op = PanelOp::LeastMagnitude,
                .rows = rows,
                .cols = cols,
                .x = x.data,
                .ldx = x.ld,
                .least = least_.as<double>() + which});
}

/// Puts right what the zeros of the triangle have changed.
void TriangularProduct::correct(Place block, Range segment, Place x) const {
  const Place from = numbers(copy_.place(), segment.first), to = numbers(x, segment.first);
  PanelCall call{.op = PanelOp::TriangleTerms,
                 .rows = is_left_ ? segment.size() : count_,
                 .cols = is_left_ ? count_ : segment.size(),
                 .a = to.data,
                 .lda = to.ld,
                 .t = block.data,
                 .ldt = block.ld,
                 .has_unit_diagonal = form_.diagonal == Diagonal::Unit,
                 .x = from.data,
                 .ldx = from.ld,
                 .least = least_.as<double>(),
                 .is_upper = !is_lower_,
                 .conjugates = form_.op == Op::ConjugateTranspose,
                 .is_on_right = !is_left_};
  if (is_turned_) std::swap(call.ldt, call.t_step);
  steps_.panel(call);
}

RankUpdate::RankUpdate(const Steps& steps, const UpdateForm& form, Index n, Index k)
    : steps_(steps), form_(form), n_(n), k_(k), sums_(steps, true, n, n) {
  steps.expect_memory_of_products();
}

/// Products of whole columns of blocks, in a matrix of their own, of which one triangle goes to C. What else is
/// computed there is not looked at.
void RankUpdate::run(std::complex<double> alpha, Place a, Place b, std::complex<double> beta, Place c,
                     bool& begins) const {
  if (beta != 0.0) steps_.scale(n_, n_, 1, c, sums_.place());
  add(alpha, a, form_.has_b ? b : a, beta);
  if (form_.has_b && k_ > 0) add(form_.is_hermitian ? std::conj(alpha) : alpha, b, a, 1);
  begins = true;
  copy_triangle(steps_, form_.triangle, n_, sums_.place(), c);
}

void RankUpdate::add(std::complex<double> alpha, Place a, Place b, std::complex<double> beta) const {
  constexpr Index width = 1024; // no bit depends on it
  const bool is_turned = form_.op != Op::None, is_lower = form_.triangle == Triangle::Lower;
  const Op other = is_turned ? Op::None : form_.is_hermitian ? Op::ConjugateTranspose : Op::Transpose;
  const auto rows_of = [&](Place x, Index row) { return is_turned ? x.at(0, row) : x.at(row, 0); };
  for (Index first = 0; first < n_; first += width) {
    const Index end = std::min(n_, first + width), row = is_lower ? first : 0, rows = is_lower ? n_ - first : end;
    steps_.multiply({.m = rows, .n = end - first, .k = k_}, alpha, rows_of(a, row), form_.op, rows_of(b, first), other,
                    beta, sums_.place().at(row, first));
  }
  if (form_.is_hermitian) steps_.make_diagonal_real(n_, sums_.place());
}

SymmetricProduct::SymmetricProduct(const Steps& steps, Side side, Triangle triangle, bool is_hermitian, Index m,
                                   Index n, bool reads)
    : steps_(steps),
      side_(side),
      triangle_(triangle),
      is_hermitian_(is_hermitian),
      m_(m),
      n_(n),
      order_(side == Side::Left ? m : n),
      reads_(reads),
      whole_(steps, reads, order_, order_),
      transposed_(steps, reads, order_, order_) {
  steps.expect_memory_of_products();
}

/// A is written out: one triangle as it is, the other one from the transpose.
void SymmetricProduct::run(std::complex<double> alpha, Place a, Place b, std::complex<double> beta, Place c,
                           bool& begins) const {
  const bool is_left = side_ == Side::Left;
  if (reads_) {
    steps_.scale(order_, order_, 1, a, whole_.place());
    steps_.transpose(order_, order_, a, transposed_.place(), is_hermitian_);
    copy_triangle(steps_, triangle_ == Triangle::Lower ? Triangle::Upper : Triangle::Lower, order_, transposed_.place(),
                  whole_.place());
    if (is_hermitian_) steps_.make_diagonal_real(order_, whole_.place());
  }
  const Place square = reads_ ? whole_.place() : b; // without terms, of which no number is read
  begins = true;
  steps_.multiply({.m = m_, .n = n_, .k = reads_ ? order_ : 0}, alpha, is_left ? square : b, Op::None,
                  is_left ? b : square, Op::None, beta, c);
}

} // namespace tessera::linear_algebra::device
