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

/// A system by panels and products. An upper triangle is a lower one when rows and columns are counted from the last;
/// X·op(T) = B is op(T)ᵀ·Xᵀ = Bᵀ, but for the order of complex factors. The constructor takes all memory.
class BlockedSystem {
 public:
  BlockedSystem(const Steps& steps, const detail::TriangularForm& form, Index n, Index count)
      : steps_(steps),
        n_(n),
        count_(count),
        is_right_(form.side == Side::Right),
        conjugates_(steps.is_complex() && form.op == Op::ConjugateTranspose),
        turns_((form.op == Op::None) == is_right_),
        is_reversed_((form.triangle == Triangle::Lower) == turns_),
        has_unit_diagonal_(form.diagonal == Diagonal::Unit),
        are_rows_(is_right_ && steps.is_complex()),
        turned_(steps, turns_ || conjugates_, n, n),
        turned_back_(steps, conjugates_ && !turns_, n, n),
        reversed_(steps, is_reversed_, n, n),
        lines_(steps, is_right_ && !are_rows_, n, count),
        reversed_lines_(steps, is_reversed_, are_rows_ ? count : n, are_rows_ ? n : count),
        sums_(steps, true, are_rows_ ? count : most_panel_columns, are_rows_ ? most_panel_columns : count) {
    steps.expect_memory_of_products();
  }

  /// X takes the place of B. `begins` is as in solve_lower().
  void solve(Place t, Place x, bool& begins) const {
    if (turns_ || conjugates_) {
      steps_.transpose(n_, n_, t, turned_.place(), conjugates_);
      t = turned_.place();
    }
    if (conjugates_ && !turns_) {
      steps_.transpose(n_, n_, t, turned_back_.place());
      t = turned_back_.place();
    }
    if (is_reversed_) {
      reverse(n_, n_, t, reversed_.place());
      t = reversed_.place();
    }
    const bool turns_lines = is_right_ && !are_rows_;
    const Place lines = turns_lines ? lines_.place() : x;
    if (turns_lines) steps_.transpose(n_, count_, x, lines);
    const Place unknowns = is_reversed_ ? reversed_lines_.place() : lines;
    if (is_reversed_) reverse_lines(lines, unknowns);
    solve_lower(steps_, {.n = n_, .t = t, .has_unit_diagonal = has_unit_diagonal_},
                {.count = count_, .x = unknowns, .are_rows = are_rows_}, sums_.place(), begins);
    if (is_reversed_) reverse_lines(unknowns, lines);
    if (turns_lines) steps_.transpose(count_, n_, lines, x);
  }

 private:
  void reverse_lines(Place from, Place to) const {
    if (are_rows_)
      reverse(count_, n_, from, to, false, true);
    else
      reverse(n_, count_, from, to, true, false);
  }
  void reverse(Index rows, Index cols, Place from, Place to, bool keeps_columns = false,
               bool keeps_rows = false) const {
    steps_.panel({.op = PanelOp::Reverse,
                  .rows = rows,
                  .cols = cols,
                  .a = to.data,
                  .lda = to.ld,
                  .x = from.data,
                  .ldx = from.ld,
                  .keep_columns = keeps_columns,
                  .keep_rows = keeps_rows});
  }

  const Steps& steps_;
  Index n_, count_;
  bool is_right_, conjugates_, turns_, is_reversed_, has_unit_diagonal_;
  bool are_rows_; ///< the unknowns are rows of X, which stay where they are
  OptionalMatrix turned_, turned_back_, reversed_, lines_, reversed_lines_, sums_;
};

/// A system on the device: by one step where it is real and has few unknowns, and else by panels and products. The
/// constructor takes all memory, but for what a device needs that rejects the one step.
class System {
 public:
  System(const Steps& steps, const detail::TriangularForm& form, Index n, Index count)
      : steps_(steps), form_(form), n_(n), count_(count) {
    if (!is_small()) blocks_.emplace(steps, form, n, count);
  }

  /// X takes the place of B. `begins` becomes true when X is changed, and stays as it is where the device rejects the
  /// first step.
  void solve(Place t, Place x, bool& begins) {
    if (!blocks_ && solve_at_once(t, x)) {
      begins = true;
      return;
    }
    if (!blocks_) blocks_.emplace(steps_, form_, n_, count_);
    blocks_->solve(t, x, begins);
  }

 private:
  bool is_small() const { return !steps_.is_complex() && count_ <= most_unknown_columns(n_); }
  bool solve_at_once(Place t, Place x) const;

  const Steps& steps_;
  detail::TriangularForm form_;
  Index n_, count_;
  std::optional<BlockedSystem> blocks_;
};

} // namespace tessera::linear_algebra::device
