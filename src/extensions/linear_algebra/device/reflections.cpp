#include "reflections.hpp"

#include <algorithm>

#include <tessera/backend/panel.hpp>

namespace tessera::linear_algebra::device {
namespace {

Index width_from(Index first, Index reflections) { return std::min(most_reflections, reflections - first); }

/// Calls step(first, width) for each panel, from the last one on if `descends`.
template <class Step>
void for_panels(Index reflections, bool descends, const Step& step) {
  const Index panels = (reflections + most_reflections - 1) / most_reflections;
  for (Index p = 0; p < panels; ++p) {
    const Index first = (descends ? panels - 1 - p : p) * most_reflections;
    step(first, width_from(first, reflections));
  }
}

} // namespace

void Planes::become_identity() const {
  if (!steps_.is_complex()) return steps_.make_identity(rows_, cols_, a_);
  const Steps parts = steps_.of_parts();
  Place real = memory_.place().at(0, 0), imaginary = memory_.place().at(1, 0);
  real.ld = imaginary.ld = 2 * real.ld;
  parts.make_identity(rows_, cols_, real);
  parts.fill(rows_, cols_, 0, imaginary);
}

void Planes::move(PanelOp op, Place to, Place from) const {
  if (!steps_.is_complex()) return;
  steps_.panel({.op = op, .rows = rows_, .cols = cols_, .a = to.data, .lda = to.ld, .x = from.data, .ldx = from.ld});
}

ReflectionBlock::ReflectionBlock(const Steps& steps, Index rows, Index reflections, Index count)
    : steps_(steps),
      parts_(steps.of_parts()),
      v_memory_(parts_.array(steps.parts() * rows, steps.parts() * most_reflections)),
      t_memory_(parts_.array(steps.parts() * most_reflections, steps.parts() * most_reflections)),
      g_memory_(parts_.array(steps.parts() * most_reflections, steps.parts() * most_reflections)),
      sums_memory_(parts_.array(steps.parts() * std::min(most_reflections, reflections), std::max<Index>(count, 1))),
      products_memory_(
          parts_.array(steps.parts() * std::min(most_reflections, reflections), std::max<Index>(count, 1))),
      v_(parts_.place(v_memory_, steps.parts() * most_reflections)),
      t_(parts_.place(t_memory_, steps.parts() * most_reflections)),
      g_(parts_.place(g_memory_, steps.parts() * most_reflections)),
      sums_(parts_.place(sums_memory_, count)),
      products_(parts_.place(products_memory_, count)) {}

void ReflectionBlock::factor(Index rows, Index width, Place a, Place tau, Index first, Index* failed) const {
  steps_.panel({.op = PanelOp::Reflections,
                .rows = rows,
                .cols = width,
                .a = a.data,
                .lda = a.ld,
                .first = first,
                .failed = failed,
                .v = v_.data,
                .ldv = v_.ld,
                .triangle = t_.data,
                .ld_triangle = t_.ld,
                .tau = tau.data});
}

void ReflectionBlock::take(Index rows, Index width, Place a, Place tau) const {
  steps_.panel({.op = PanelOp::ReflectionVectors,
                .rows = rows,
                .cols = width,
                .a = v_.data,
                .lda = v_.ld,
                .x = a.data,
                .ldx = a.ld});
  const Index parts = steps_.parts();
  parts_.product(false, parts * width, parts * width, parts * rows, v_, Op::Transpose, v_, Op::None, g_);
  steps_.panel({.op = PanelOp::ReflectionTriangle,
                .rows = width,
                .cols = width,
                .a = t_.data,
                .lda = t_.ld,
                .x = g_.data,
                .ldx = g_.ld,
                .tau = tau.data});
}

void ReflectionBlock::apply(Index rows, Index width, bool is_transposed, Index count, Place c) const {
  rows *= steps_.parts();
  width *= steps_.parts();
  parts_.product(false, width, count, rows, v_, Op::Transpose, c, Op::None, sums_);
  parts_.product(false, width, count, width, t_, is_transposed ? Op::Transpose : Op::None, sums_, Op::None, products_);
  parts_.product(true, rows, count, width, v_, products_, Op::None, c);
}

OrthogonalFactor::OrthogonalFactor(const Steps& steps, Index m, Index n, Place a, Place tau)
    : m_(m),
      n_(n),
      a_(steps, m, n, a),
      tau_(tau),
      block_(steps, m, std::min(m, n), n - width_from(0, std::min(m, n))),
      failure_(steps) {}

Index OrthogonalFactor::run(bool& begins) const {
  a_.take();
  for_panels(std::min(m_, n_), false, [&](Index j, Index width) {
    block_.factor(m_ - j, width, a_.at(j, j), tau_.at(0, j), j, failure_.place());
    begins = true;
    block_.apply(m_ - j, width, true, n_ - j - width, a_.at(j, j + width));
  });
  a_.give_back();
  return failure_.get();
}

OrthogonalProduct::OrthogonalProduct(const Steps& steps, Index m, Index k, Index count, Place a, Place tau, Place c)
    : m_(m), k_(k), count_(count), a_(a), tau_(tau), c_(steps, m, count, c), block_(steps, m, k, count) {}

void OrthogonalProduct::apply(bool is_transposed, bool& begins) const {
  c_.take();
  for_panels(k_, !is_transposed, [&](Index j, Index width) {
    take(j, width);
    begins = true;
    block_.apply(m_ - j, width, is_transposed, count_, c_.at(j, 0));
  });
  c_.give_back();
}

/// A panel leaves the columns before it as they are, and the rows.
void OrthogonalProduct::form(bool& begins) const {
  c_.become_identity();
  for_panels(k_, true, [&](Index j, Index width) {
    take(j, width);
    begins = true;
    block_.apply(m_ - j, width, false, count_ - j, c_.at(j, j));
  });
  c_.give_back();
}

} // namespace tessera::linear_algebra::device
