#pragma once

/// Grades of accuracy: how fast the error of a product grows with its size, from measurements at several sizes. The
/// grade is A if the error grows with n at most as the error of a conventional product may, element by element; B and C
/// if it does so by the norms of rows and columns, or of the matrices, alone. A grade is a measurement and no proof.
/// docs/error_bounds.md ("Grades") has the definition.
///
/// Modes that round their inputs (tf32, bf16, fp16, scaled_fp16) have another u than their type, and must not be graded
/// with the type's.
///
/// Source: J. Demmel, X. Li, J. Langou, W. Pereira, M. Gates, C. Rubio González: "How to grade the accuracy of an
/// implementation of the BLAS" (BLIS Retreat 2024, slides).

#include <cstddef>
#include <span>
#include <string_view>

#include <tessera/checking/compare.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

/// How fast an error grows, from the best grade to none; the comment of this header defines the grades.
enum class Grade : int {
  A = 0,    ///< by the componentwise error
  B = 1,    ///< by the norms of rows and columns
  C = 2,    ///< by the norms of the matrices
  None = 3, ///< not even grade C
};

/// Returns "A", "B", "C" or "none".
TESSERA_API std::string_view to_string(Grade grade);

/// Errors of an n×n×n product, in units of u.
struct SizeErrors {
  Index n = 0;              ///< rows and columns of the matrices
  double componentwise = 0; ///< GemmError::componentwise
  double row_column = 0;    ///< GemmError::row_column
  double norm_product = 0;  ///< GemmError::norm_product

  /// Takes the three errors of a comparison.
  static SizeErrors of(Index n, const GemmError& error) {
    return {n, error.componentwise, error.row_column, error.norm_product};
  }
};

/// A grade, and the slope that led to it.
struct Grading {
  Grade grade = Grade::None; ///< the best grade that the errors have
  double slope = 0; ///< slope of the grade's error (componentwise if there is no grade); 0 if there are no errors
};

inline constexpr std::size_t least_sizes = 3; ///< The least number of sizes that a grade needs.
inline constexpr double steepest = 1.1;       ///< The largest slope that a grade allows.

/// Grades the errors. Throws InvalidArgument unless there are at least `least_sizes` different positive sizes.
TESSERA_API Grading grade_growth(std::span<const SizeErrors> sizes);

/// Returns the least-squares slope of log(error) over log(n). Points whose error is 0 are left out; if fewer than two
/// are left, the slope is 0.
TESSERA_API double growth_slope(std::span<const SizeErrors> sizes, double SizeErrors::*error);

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
