#pragma once

/// Triangular systems on a device, on either side and with either triangle.

#include <optional>

#include <tessera/linear_algebra/triangular.hpp>

#include "steps.hpp"

namespace tessera::linear_algebra::device {

/// Memory for a matrix, if it is needed.
class OptionalMatrix {
 public:
  OptionalMatrix(const Steps& steps, bool is_needed, Index rows, Index cols) {
    if (!is_needed) return;
    memory_.emplace(steps.array(rows, cols));
    place_ = steps.place(*memory_, cols);
  }
  Place place() const { return place_; }

 private:
  std::optional<DeviceArray> memory_;
  Place place_;
};

/// A system on the device. An upper triangle is a lower one when rows and columns are counted from the last; X·op(T) =
/// B is op(T)ᵀ·Xᵀ = Bᵀ. The constructor takes all memory.
class System {
 public:
  System(const Steps& steps, const detail::TriangularForm& form, Index n, Index count)
      : steps_(steps),
        n_(n),
        count_(count),
        is_right_(form.side == Side::Right),
        turns_((form.op == Op::None) == is_right_),
        is_reversed_((form.triangle == Triangle::Lower) == turns_),
        has_unit_diagonal_(form.diagonal == Diagonal::Unit),
        turned_(steps, turns_, n, n),
        reversed_(steps, is_reversed_, n, n),
        lines_(steps, is_right_, n, count),
        reversed_lines_(steps, is_reversed_, n, count),
        sums_(steps, true, most_panel_columns, count) {}

  void solve(Place t, Place x) const {
    if (turns_) {
      steps_.transpose(n_, n_, t, turned_.place());
      t = turned_.place();
    }
    if (is_reversed_) {
      reverse(n_, false, t, reversed_.place());
      t = reversed_.place();
    }
    const Place lines = is_right_ ? lines_.place() : x;
    if (is_right_) steps_.transpose(n_, count_, x, lines);
    const Place unknowns = is_reversed_ ? reversed_lines_.place() : lines;
    if (is_reversed_) reverse(count_, true, lines, unknowns);
    solve_lower(steps_, {.n = n_, .t = t, .has_unit_diagonal = has_unit_diagonal_}, count_, unknowns, sums_.place());
    if (is_reversed_) reverse(count_, true, unknowns, lines);
    if (is_right_) steps_.transpose(count_, n_, lines, x);
  }

 private:
  void reverse(Index cols, bool keeps_columns, Place from, Place to) const {
    steps_.panel({.op = PanelOp::Reverse,
                  .rows = n_,
                  .cols = cols,
                  .a = to.data,
                  .lda = to.ld,
                  .x = from.data,
                  .ldx = from.ld,
                  .keep_columns = keeps_columns});
  }

  const Steps& steps_;
  Index n_, count_;
  bool is_right_, turns_, is_reversed_, has_unit_diagonal_;
  OptionalMatrix turned_, reversed_, lines_, reversed_lines_, sums_;
};

} // namespace tessera::linear_algebra::device
