#pragma once

/// Matrices whose factors are known without rounding, and what a lesson's function has to make of them.

#include <vector>

#include "catalogue.hpp"

namespace tessera::lessons {

/// A matrix that a lesson on factors is tried on.
struct FactorCase {
  const char* subject; ///< what is new in it
  Index n;
  bool is_panel = false; ///< half of the columns are factored, of all rows
  DType type = DType::F32;
};

/// n×n elements, row by row, before and after, and the rows with which rows change places; −1 where none does.
///
/// Each matrix is a product of factors of few small numbers. So no order of the operations rounds: diagonals of U and L
/// are powers of two, and factors of LU are at most 1/2 below the diagonal, so that no column has two pivots.
struct FactorProblem {
  Index n = 0, width = 0;
  std::vector<double> a, factored, pivots;

  double before(Index i, Index j) const { return a[static_cast<std::size_t>(i * n + j)]; }
  double wanted(Index i, Index j) const { return factored[static_cast<std::size_t>(i * n + j)]; }
};

FactorProblem make_problem(Work work, Index n, bool is_panel);

} // namespace tessera::lessons
