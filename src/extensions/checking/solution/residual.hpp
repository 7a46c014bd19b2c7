#pragma once

/// The residual of a system A·X = B in twice double's precision, beside what it is measured by.

#include <vector>

#include <tessera/checking/check_solve.hpp>

#include "operand.hpp"

namespace tessera::solution {

/// A system and what is said to be its solution.
struct System {
  Operand a; ///< n×n
  Operand x; ///< n×count
  Operand b; ///< n×count

  Index n() const { return a.rows(); }
  Index count() const { return x.cols(); }
  bool is_complex() const { return a.is_complex() || x.is_complex() || b.is_complex(); }
};

/// An element of the residual. Of complex numbers |·| is the modulus.
struct Residual {
  Index row = -1, col = -1;
  double value = 0;         ///< b − A·x, rounded; of complex numbers the modulus
  double scale = 0;         ///< |A||x| + |b|, rounded
  Enclosure magnitude = {}; ///< of |b − A·x|
  Enclosure ratio = {};     ///< of |b − A·x| / (|A||x| + |b|)
};

/// What is known of all elements of the residual together.
struct Residuals {
  Residual worst = {};                   ///< of those with the largest ratio
  Enclosure ratio = {};                  ///< the largest
  std::vector<Enclosure> by_column = {}; ///< the largest of each column
  Enclosure norm_ratio = {};             ///< of |b − A·x| over ‖A‖‖x‖ + ‖b‖ of all columns, the largest
  Index unjudged = 0;                    ///< elements with NaN or Inf in A's row or in b, or whose sums overflow
  bool norm_known = true;                ///< false: ‖A‖‖x‖ + ‖b‖ of a column is NaN, Inf, or overflows
  bool is_misplaced = false;             ///< X has NaN or Inf where A's row and b have none
};

/// Computes all elements.
Residuals residuals_of(const System& system, int threads);

} // namespace tessera::solution
