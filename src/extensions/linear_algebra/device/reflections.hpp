#pragma once

/// The QR factorisation on a device, and products with its Q: panels of reflections, each of which changes everything
/// right of it by three products. docs/contract.md ("QR") has the order of operations.
///
/// Complex matrices are brought to planes and back (PanelOp::IntoPlanes): a row of real parts, and then the row of
/// their imaginary ones. V and T are expanded there, each number to [[re, −im], [im, re]]. So all three products are
/// real ones, with the terms in the order that the contract has for complex numbers, and no large matrix is expanded.

#include <tessera/backend/panel.hpp>

#include "steps.hpp"
#include "system.hpp"

namespace tessera::linear_algebra::device {

/// A complex matrix in planes, in memory of its own; a real one stays where it is. The constructor takes the memory.
class Planes {
 public:
  Planes(const Steps& steps, Index rows, Index cols, Place a)
      : steps_(steps), rows_(rows), cols_(cols), a_(a), memory_(steps.of_parts(), steps.is_complex(), 2 * rows, cols) {}

  /// Returns the place of row i and column j.
  Place at(Index i, Index j) const { return steps_.is_complex() ? memory_.place().at(2 * i, j) : a_.at(i, j); }
  void take() const { move(PanelOp::IntoPlanes, memory_.place(), a_); }
  void give_back() const { move(PanelOp::FromPlanes, a_, memory_.place()); }
  void become_identity() const;

 private:
  void move(PanelOp op, Place to, Place from) const;

  const Steps& steps_;
  Index rows_, cols_;
  Place a_;
  OptionalMatrix memory_;
};

/// The reflections of a panel as one block, I − V·T·Vᴴ, in memory of its own.
class ReflectionBlock {
 public:
  /// Takes all memory: for panels of up to `rows` rows of a matrix with `reflections` of them, which are applied to up
  /// to `count` columns.
  ReflectionBlock(const Steps& steps, Index rows, Index reflections, Index count);

  /// Factors a panel of A in planes, which begins in row and column `first` of a matrix, and becomes this block.
  void factor(Index rows, Index width, Place a, Place tau, Index first, Index* failed) const;
  /// Becomes the block of a panel of numbers that has been factored.
  void take(Index rows, Index width, Place a, Place tau) const;
  /// C = (I − V·T·Vᴴ)·C or, transposed, (I − V·Tᴴ·Vᴴ)·C, rows×count in planes.
  void apply(Index rows, Index width, bool is_transposed, Index count, Place c) const;

 private:
  const Steps& steps_;
  const Steps parts_; ///< of the products
  DeviceArray v_memory_, t_memory_, g_memory_, sums_memory_, products_memory_;
  Place v_, t_, g_, sums_, products_;
};

/// The QR factorisation of A, m×n, in place, where `tau` takes the reflections' factors. The constructor takes all
/// memory, and writes neither. Complex numbers take memory for as many again.
class OrthogonalFactor {
 public:
  OrthogonalFactor(const Steps& steps, Index m, Index n, Place a, Place tau);
  /// Returns the first column whose element of R's diagonal is 0, or −1. `begins` becomes true when A or tau is
  /// changed, and stays as it is where the device rejects the first panel.
  Index run(bool& begins) const;

 private:
  Index m_, n_;
  Planes a_;
  Place tau_;
  ReflectionBlock block_;
  FirstFailure failure_;
};

/// Products with the Q of k reflections, whose vectors lie below the diagonal of A, m×k. The constructor takes all
/// memory.
class OrthogonalProduct {
 public:
  /// For a matrix C of `count` columns.
  OrthogonalProduct(const Steps& steps, Index m, Index k, Index count, Place a, Place tau, Place c);
  /// C = Q·C or, transposed, Qᴴ·C, m×count. `begins` becomes true before C is changed.
  void apply(bool is_transposed, bool& begins) const;
  /// C becomes the first `count` columns of Q, at most k.
  void form(bool& begins) const;

 private:
  void take(Index first, Index width) const { block_.take(m_ - first, width, a_.at(first, first), tau_.at(0, first)); }

  Index m_, k_, count_;
  Place a_, tau_;
  Planes c_;
  ReflectionBlock block_;
};

} // namespace tessera::linear_algebra::device
