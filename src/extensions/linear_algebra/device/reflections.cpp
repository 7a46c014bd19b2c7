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

ReflectionBlock::ReflectionBlock(const Steps& steps, Index rows, Index reflections, Index count)
    : steps_(steps),
      v_memory_(steps.array(rows, most_reflections)),
      t_memory_(steps.array(most_reflections, most_reflections)),
      g_memory_(steps.array(most_reflections, most_reflections)),
      sums_memory_(steps.array(std::min(most_reflections, reflections), std::max<Index>(count, 1))),
      products_memory_(steps.array(std::min(most_reflections, reflections), std::max<Index>(count, 1))),
      v_(steps.place(v_memory_, most_reflections)),
      t_(steps.place(t_memory_, most_reflections)),
      g_(steps.place(g_memory_, most_reflections)),
      sums_(steps.place(sums_memory_, count)),
      products_(steps.place(products_memory_, count)) {}

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
  steps_.product(false, width, width, rows, v_, Op::Transpose, v_, Op::None, g_);
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
  steps_.product(false, width, count, rows, v_, Op::Transpose, c, Op::None, sums_);
  steps_.product(false, width, count, width, t_, is_transposed ? Op::Transpose : Op::None, sums_, Op::None, products_);
  steps_.product(true, rows, count, width, v_, products_, Op::None, c);
}

OrthogonalFactor::OrthogonalFactor(const Steps& steps, Index m, Index n, Place a, Place tau)
    : m_(m),
      n_(n),
      a_(a),
      tau_(tau),
      block_(steps, m, std::min(m, n), n - width_from(0, std::min(m, n))),
      failure_(steps) {}

Index OrthogonalFactor::run(bool& begins) const {
  for_panels(std::min(m_, n_), false, [&](Index j, Index width) {
    block_.factor(m_ - j, width, a_.at(j, j), tau_.at(0, j), j, failure_.place());
    begins = true;
    block_.apply(m_ - j, width, true, n_ - j - width, a_.at(j, j + width));
  });
  return failure_.get();
}

OrthogonalProduct::OrthogonalProduct(const Steps& steps, Index m, Index k, Index count, Place a, Place tau)
    : steps_(steps), m_(m), k_(k), a_(a), tau_(tau), block_(steps, m, k, count) {}

void OrthogonalProduct::apply(bool is_transposed, Index count, Place c, bool& begins) const {
  for_panels(k_, !is_transposed, [&](Index j, Index width) {
    take(j, width);
    begins = true;
    block_.apply(m_ - j, width, is_transposed, count, c.at(j, 0));
  });
}

/// A panel leaves the columns before it as they are, and the rows.
void OrthogonalProduct::form(Place c, bool& begins) const {
  steps_.make_identity(m_, k_, c);
  for_panels(k_, true, [&](Index j, Index width) {
    take(j, width);
    begins = true;
    block_.apply(m_ - j, width, false, k_ - j, c.at(j, j));
  });
}

} // namespace tessera::linear_algebra::device
