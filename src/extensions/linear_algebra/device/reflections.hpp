#pragma once

/// The QR factorisation on a device, and products with its Q: panels of reflections, each of which changes everything
/// right of it by three products. docs/contract.md ("QR") has the order of operations.

#include "steps.hpp"

namespace tessera::linear_algebra::device {

/// The reflections of a panel as one block, I − V·T·Vᵀ, in memory of its own.
class ReflectionBlock {
 public:
  /// Takes all memory: for panels of up to `rows` rows of a matrix with `reflections` of them, which are applied to up
  /// to `count` columns.
  ReflectionBlock(const Steps& steps, Index rows, Index reflections, Index count);

  /// Factors a panel of A, which begins in row and column `first` of a matrix, and becomes this block.
  void factor(Index rows, Index width, Place a, Place tau, Index first, Index* failed) const;
  /// Becomes the block of a panel that has been factored.
  void take(Index rows, Index width, Place a, Place tau) const;
  /// C = (I − V·T·Vᵀ)·C or, transposed, (I − V·Tᵀ·Vᵀ)·C, rows×count.
  void apply(Index rows, Index width, bool is_transposed, Index count, Place c) const;

 private:
  const Steps& steps_;
  DeviceArray v_memory_, t_memory_, g_memory_, sums_memory_, products_memory_;
  Place v_, t_, g_, sums_, products_;
};

/// The QR factorisation of A, m×n, in place, where `tau` takes the reflections' factors. The constructor takes all
/// memory, and writes neither.
class OrthogonalFactor {
 public:
  OrthogonalFactor(const Steps& steps, Index m, Index n, Place a, Place tau);
  /// Returns the first column whose element of R's diagonal is 0, or −1. `begins` becomes true when A is changed, and
  /// stays as it is where the device rejects the first panel.
  Index run(bool& begins) const;

 private:
  Index m_, n_;
  Place a_, tau_;
  ReflectionBlock block_;
  FirstFailure failure_;
};

/// Products with the Q of k reflections, whose vectors lie below the diagonal of A, m×k. The constructor takes all
/// memory.
class OrthogonalProduct {
 public:
  /// For matrices of up to `count` columns.
  OrthogonalProduct(const Steps& steps, Index m, Index k, Index count, Place a, Place tau);
  /// C = Q·C or, transposed, Qᵀ·C, m×count. `begins` becomes true before C is changed.
  void apply(bool is_transposed, Index count, Place c, bool& begins) const;
  /// C becomes the first k columns of Q.
  void form(Place c, bool& begins) const;

 private:
  void take(Index first, Index width) const { block_.take(m_ - first, width, a_.at(first, first), tau_.at(0, first)); }

  const Steps& steps_;
  Index m_, k_;
  Place a_, tau_;
  ReflectionBlock block_;
};

} // namespace tessera::linear_algebra::device
