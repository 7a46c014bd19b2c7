#pragma once

/// How fast does the error of a product grow with its size? A grade from measurements at several sizes.
///
/// J. Demmel, X. Li, J. Langou, W. Pereira, M. Gates, C. Rubio González: "How to grade the accuracy of an
/// implementation of the BLAS" (BLIS Retreat 2024, slides). Their grade A asks for the componentwise bound
///     |Ĉ − C|_ij ≤ f(n)·u·(|A||B|)_ij
/// with an f that grows at most linearly, which any order of the conventional n³ products keeps; it is measured as the
/// slope of log(largest error) over log(n), which must not be above 1. Fixed-point emulation that is tuned by row and
/// column keeps only the weaker bound with ‖a_i‖‖b_j‖ in place of (|A||B|)_ij, and Strassen's algorithm only the one
/// with the norms of the whole matrices. Here:
///   - grade A, B, C: the error in the sense of GemmError::componentwise, row_column, norm_product (each in units of u)
///     has a slope of at most `steepest` and is nowhere above 2(n + 2), the constant of an accumulator that truncates;
///   - none: not even that.
/// A implies B implies C. `steepest` leaves 0.1 for the scatter of a fit through few sizes: rounding errors of random
/// sign have slopes near 1/2. Data decide: with elements of one size B and C are as hard as A; scaled rows, columns and
/// wide exponents tell them apart. As the authors say of theirs, this is a measurement and no proof. The bound of
/// compare.hpp is one; it holds for each element, while a grade also tells of constants that shrink or grow with n.
///
/// Modes that round their inputs (tf32, bf16, fp16) have a u of their own and are not to be graded by the type's.

#include <cstddef>
#include <span>
#include <string_view>

#include <tessera/compare.hpp>

namespace tessera {

enum class Grade : int { A = 0, B = 1, C = 2, None = 3 };

/// "A", "B", "C", "none".
TESSERA_API std::string_view to_string(Grade grade);

/// Errors of an n×n×n product, in units of u.
struct SizeErrors {
  Index n = 0;
  double componentwise = 0;
  double row_column = 0;
  double norm_product = 0;

  static SizeErrors of(Index n, const GemmError& error) {
    return {n, error.componentwise, error.row_column, error.norm_product};
  }
};

struct Grading {
  Grade grade = Grade::None;
  double slope = 0; ///< of the error that the grade is about (componentwise if there is none); 0 if nothing was off
};

inline constexpr std::size_t least_sizes = 3;
inline constexpr double steepest = 1.1;

/// Throws InvalidArgument unless there are at least `least_sizes` different positive sizes.
TESSERA_API Grading grade_growth(std::span<const SizeErrors> sizes);

/// Least-squares slope of log(y) over log(n); points with y = 0 are left out, and with fewer than two left it is 0.
TESSERA_API double growth_slope(std::span<const SizeErrors> sizes, double SizeErrors::*error);

} // namespace tessera
