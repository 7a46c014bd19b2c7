#pragma once

/// A certificate for the solution of a linear system that anything computed: is X the solution of a system near A·X =
/// B?
///
///     SolveCertificate answer = check_solve(a, x, b);   // matrices or views; A is n×n, X and B are n×count
///     if (!answer.right()) std::cout << to_text(answer);
///
/// Near means by elements: there are E and f with (A + E)·x = b + f, |E| ≤ ω·|A| and |f| ≤ ω·|b|, for each column. The
/// least such ω is known: the largest |b − A·x| over |A||x| + |b| of all elements (Oettli and Prager). So no solver has
/// to be trusted, and no reference solution is needed; whether A is ill conditioned does not matter. Residuals are
/// computed in twice double's precision, and ω is enclosed between two numbers, all rounding included.
///
/// Solvers without a step of refinement, LAPACK's among them, promise less for matrices whose rows differ in size: a
/// system that is near in norm (Rigal and Gaches). Nearness::Norm asks for that; both numbers are in every answer.
///
/// Complex systems have the same two numbers, with the moduli of complex numbers for |·|. A, X and B may be complex or
/// real each.
///
/// Matrices are in host memory and of any type that `check` reads, or complex numbers of such parts, each of its own;
/// matrices of Tessera are brought there. Nothing is written. Costs some 25·n²·count operations, and some 90·n²·count
/// of complex ones. Errors: InvalidArgument (shapes, a limit that is negative or NaN), OutOfMemory.
///
/// Source: Oettli and Prager (1964); Rigal and Gaches (1967); Ogita, Rump and Oishi, "Accurate sum and dot product"
/// (2005); Higham, "Accuracy and Stability of Numerical Algorithms", section 3.6 and theorem 7.3, for complex numbers.

#include <string>
#include <vector>

#include <tessera/checking/check.hpp>
#include <tessera/linear_algebra/options.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

/// In what sense a system is near (A, B).
enum class Nearness : int {
  Elements = 0, ///< each element of A and B changes by its own share
  Norm = 1, ///< the changes are small beside the largest rows: ‖E‖ ≤ η·‖A‖, ‖f‖ ≤ η·‖b‖, in the maximum norm
};

/// The choices of a check of a solution.
struct SolveCheckOptions {
  Nearness nearness = Nearness::Elements; ///< decides the verdict
  /// Of ω or η; 0: 3·(n + 10)·u with the unit roundoff u of X's type, and 2·√2 times that where a matrix is complex,
  /// because so much larger is the error of a complex product.
  double limit = 0;
  int threads = 0; ///< 0: default_threads()
};

/// Two numbers, between which a third one lies.
struct Enclosure {
  double least = 0; ///< it is no less
  double most = 0;  ///< it is no more
};

/// The answer of a check of a solution.
struct SolveCertificate {
  Verdict verdict = Verdict::Right;       ///< by the chosen nearness and its limit; Unknown where `unjudged` hides it
  Nearness nearness = Nearness::Elements; ///< as it was chosen
  CheckedType type_x = CheckedType::F64;  ///< type of X, or of its parts
  bool x_is_complex = false;              ///< X has complex numbers
  Index n = 0;                            ///< unknowns
  Index count = 0;                        ///< right-hand sides
  double limit = 0;                       ///< as it was chosen, or by default
  Enclosure by_elements = {};             ///< ω
  std::vector<Enclosure> columns = {};    ///< ω of each column
  Enclosure by_norm = {};                 ///< η, the largest of all columns
  Index row = -1;                         ///< of the element of the residual that decides ω; −1: all are 0
  Index col = -1;                         ///< of that element
  double residual = 0;                    ///< b − A·x there, rounded; of complex systems its modulus
  double scale = 0;                       ///< |A||x| + |b| there, rounded
  Index unjudged = 0; ///< elements of the residual that cannot be: A or B has NaN or Inf there, or a sum overflows

  /// Is the verdict Right?
  bool right() const noexcept { return verdict == Verdict::Right; }
};

/// Checks X. A must be square, and X and B have its rows.
TESSERA_API SolveCertificate check_solve(const CheckedMatrix& a, const CheckedMatrix& x, const CheckedMatrix& b,
                                         const SolveCheckOptions& options = {});

/// @cond complex_matrix

/// Describes a matrix or a view of complex numbers. It must stay alive.
template <MatrixLike M>
requires detail::Complex<typename M::value_type> CheckedMatrix checked(const M& matrix) {
  const auto view = matrix.view();
  const bool flipped = view.is_transposed();
  return {.type = static_cast<CheckedType>(dtype_of<typename M::value_type::value_type>),
          .data = view.data(),
          .rows = flipped ? view.cols() : view.rows(),
          .cols = flipped ? view.rows() : view.cols(),
          .ld = view.ld(),
          .op = flipped ? Op::Transpose : Op::None,
          .is_complex = true};
}

/// @endcond

/// Checks X, as matrices or views of Tessera.
template <MatrixLike A, MatrixLike X, MatrixLike B>
SolveCertificate check_solve(const A& a, const X& x, const B& b, const SolveCheckOptions& options = {}) {
  return check_solve(checked(a), checked(x), checked(b), options);
}

/// Returns some lines of text: the verdict, both numbers, and the element that decides.
TESSERA_API std::string to_text(const SolveCertificate& certificate);
/// Returns the certificate as JSON with the schema "tessera.solve_certificate/1". Numbers that JSON does not have are
/// the strings "inf" and "nan". Throws Error with the code Unavailable where the library was built without
/// nlohmann_json.
TESSERA_API std::string to_json(const SolveCertificate& certificate, int indent = 2);

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
