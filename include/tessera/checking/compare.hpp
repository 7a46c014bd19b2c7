#pragma once

/// The error of a product. A computed C is compared with a reference in higher precision, and with a bound that every
/// correct kernel of its kind keeps.
///
///     GemmReference reference(call);                       // host operands, C as it was before the product
///     GemmError error = reference.compare(c, ldc, Arithmetic::of(row));
///     if (!error.within_bound()) …
///
/// The reference of f32, f16 and bf16 products is computed in f64; the one of f64 products in a pair of doubles (about
/// 106 bits). References share no code with the backends, so that no kernel is compared with itself.
/// docs/error_bounds.md derives the bound of an element. NaN fails every comparison with it; NaN and Inf in the inputs
/// must give NaN and Inf where IEEE arithmetic does.
///
/// Source: Dekker; Knuth; Ogita, Rump, Oishi (2005); Higham, Accuracy and Stability of Numerical Algorithms.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <tessera/backend/kernel.hpp>
#include <tessera/checking/ulp.hpp>
#include <tessera/detail/export.hpp>
#include <tessera/types.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

/// The properties of a kernel that decide its error bound.
struct Arithmetic {
  DType type = DType::F32;                       ///< type of the operands
  Math math = Math::Strict;                      ///< how the kernel rounds
  Summation summation = Summation::Other;        ///< the order in which it adds
  Accumulator accumulator = Accumulator::Native; ///< the precision in which it adds

  /// Returns the properties of a kernel of a ladder.
  static Arithmetic of(const GemmKernel& kernel) {
    return {kernel.type, kernel.math, kernel.summation, kernel.accumulator};
  }
};

/// One element that differs from the reference.
struct WorstElement {
  Index row = -1;        ///< its row in C
  Index col = -1;        ///< its column in C
  double computed = 0;   ///< what the kernel computed
  double exact = 0;      ///< rounded to double
  double bound = 0;      ///< the error that a correct kernel may have here
  double over_bound = 0; ///< |Δ| / bound; infinite where a NaN or Inf is misplaced
};
inline constexpr std::size_t worst_elements = 8; ///< number of elements in GemmError::worst

/// Says how many elements are NaN, and how many are infinite.
struct NonFinite {
  Index nan = 0; ///< number of NaN
  Index inf = 0; ///< number of infinities
  /// Adds the other numbers to these.
  NonFinite& operator+=(const NonFinite& other) {
    nan += other.nan;
    inf += other.inf;
    return *this;
  }
};

/// Errors of the elements in the compared rows. A relative error is |Δ| / |exact|, and infinite where the exact element
/// is zero and the computed one is not. Elements that are NaN or Inf on both sides count as equal. One that is NaN or
/// Inf on one side only makes every error infinite, unless finite inputs may overflow there: then it counts only in
/// `ulps`.
///
/// u is the unit roundoff of C's type: 2⁻²⁴, 2⁻⁵³, 2⁻¹¹ (f16) or 2⁻⁸ (bf16). Demmel's grades (grade.hpp) are given for
/// the three errors in units of u. By the inequality of Cauchy and Schwarz each of the three is at most as large as the
/// one before it, except for the rounding of norm_product.
struct GemmError {
  Index rows = 0;           ///< of C
  Index rows_compared = 0;  ///< all of them, or a sample
  double total_abs = 0;     ///< Σ|gold − c|, gold rounded to C's type
  double max_abs = 0;       ///< largest |Δ|; this and all members below are against the unrounded reference
  double max_rel = 0;       ///< largest relative error
  double mean_rel = 0;      ///< over the compared elements
  double normwise = 0;      ///< ‖Δ‖ / ‖C‖, Frobenius norms of the compared rows
  double componentwise = 0; ///< largest |Δ_ij| / u(|alpha|(|A||B|)_ij + |beta||C_ij|)
  double row_column = 0; ///< largest |Δ_ij| / u(|alpha|‖a_i‖‖b_j‖ + |beta||C_ij|), Euclidean norms of row and column
  double norm_product = 0; ///< ‖Δ‖ / u(|alpha|‖A‖‖B‖ + |beta|‖C‖), Frobenius norms; of A only the compared rows
  double norm_error = 0;           ///< ‖Δ‖, the Frobenius norm of the compared rows' errors
  double norm_exact = 0;           ///< ‖C‖, the Frobenius norm of the compared rows of the reference
  double max_over_bound = 0;       ///< largest |Δ| / bound: at most 1 for a correct kernel
  Index differing_bits = 0;        ///< elements without the bits of the numerical contract (any NaN equals any NaN)
  Index beyond = 0;                ///< elements beyond their bound, with the misplaced ones
  Index misplaced = 0;             ///< elements that are wrongly NaN or Inf, or wrongly not
  Index telling = 0;               ///< elements at which a zero would be beyond the bound, or misplaced
  Index unjudged = 0;              ///< elements that may overflow on the way, and did, or wrapped around
  Index worst_row = -1;            ///< place of max_over_bound; −1 if no element differs
  Index worst_col = -1;            ///< the column to worst_row
  UlpHistogram ulps;               ///< distances from gold
  std::vector<WorstElement> worst; ///< elements by |Δ| / bound, the worst first; exact ones are left out
  NonFinite expected;              ///< in the reference
  NonFinite found;                 ///< in the compared result

  /// Is every element within its bound, and no NaN or Inf misplaced?
  bool within_bound() const noexcept { return misplaced == 0 && max_over_bound <= 1.0; }
};

/// A number of GemmError, by its name in gemm_compare's JSON and in Python.
struct ErrorNumber {
  const char* name; ///< the name
  /// Returns the number.
  double (*value)(const GemmError&);
};

/// The one list of the numbers that reports show.
inline constexpr std::array error_numbers{
    ErrorNumber{"total_abs", [](const GemmError& e) { return e.total_abs; }},
    ErrorNumber{"max_abs", [](const GemmError& e) { return e.max_abs; }},
    ErrorNumber{"max_rel", [](const GemmError& e) { return e.max_rel; }},
    ErrorNumber{"mean_rel", [](const GemmError& e) { return e.mean_rel; }},
    ErrorNumber{"normwise", [](const GemmError& e) { return e.normwise; }},
    ErrorNumber{"componentwise", [](const GemmError& e) { return e.componentwise; }},
    ErrorNumber{"row_column", [](const GemmError& e) { return e.row_column; }},
    ErrorNumber{"norm_product", [](const GemmError& e) { return e.norm_product; }},
    ErrorNumber{"max_over_bound", [](const GemmError& e) { return e.max_over_bound; }},
    ErrorNumber{"differing_bits", [](const GemmError& e) { return static_cast<double>(e.differing_bits); }},
    ErrorNumber{"misplaced", [](const GemmError& e) { return static_cast<double>(e.misplaced); }},
    ErrorNumber{"rows", [](const GemmError& e) { return static_cast<double>(e.rows); }},
    ErrorNumber{"rows_compared", [](const GemmError& e) { return static_cast<double>(e.rows_compared); }},
};

/// The reference of one product: all rows of C or some, in high precision, with |A||B| and with the contract's bits.
class TESSERA_API GemmReference {
 public:
  /// Computes the reference of a checked call on host memory. C must have its value from before the product; it is read
  /// if beta ≠ 0. No pointer of the call is kept. `rows` lists the rows of C to compute, in ascending order; without it
  /// all are computed. threads = 0: default_threads(). Costs about 2·rows·n·k multiply-adds in double (f32), or ten
  /// times as many operations (f64). Throws InvalidArgument and OutOfMemory.
  GemmReference(const GemmCall& call, std::vector<Index> rows, int threads = 0);
  /// Computes the reference of all rows.
  explicit GemmReference(const GemmCall& call, int threads = 0);
  /// Frees the reference.
  ~GemmReference();
  /// Takes the other reference, which can then only be assigned to or destroyed.
  GemmReference(GemmReference&&) noexcept;
  /// Takes the other reference, which can then only be assigned to or destroyed.
  GemmReference& operator=(GemmReference&&) noexcept;

  /// Computes the bits that the numerical contract gives the rows of this reference in the mode of `call`, a mode of
  /// matrix units or Int8Units. The call is the reference's own, except for its mode, with C as it was before the
  /// product. From then on compare() counts the differing bits of a kernel with Summation::HopperUnits or WholeNumbers
  /// against these; without them, and for all other kernels, against the strict product. A mode whose bits are there
  /// already costs nothing; another one costs about as much as the reference, and an emulated one three or six times as
  /// much. Throws InvalidArgument and OutOfMemory.
  void add_bits(const GemmCall& call, int threads = 0);

  /// Returns the errors of an m×n result in host memory, of which only the rows of this reference are read. The number
  /// of threads does not change them.
  GemmError compare(const void* c, Index ldc, const Arithmetic& arithmetic, int threads = 0) const;

  /// Returns the rows of C that the reference has, in ascending order.
  const std::vector<Index>& rows() const;
  /// Returns row rows()[r] of the reference, rounded: n elements of the call's result type.
  const void* gold(Index r) const;
  /// Returns row rows()[r] of the strict product: n elements of the call's result type.
  const void* canonical(Index r) const;

  struct State; ///< the library's own

 private:
  std::unique_ptr<State> state_;
};

/// Returns `count` of the rows 0 … m−1 in ascending order: the first, the last, and others at random; all if count ≥ m.
TESSERA_API std::vector<Index> sample_rows(Index m, Index count, std::uint64_t seed);

/// A reduction in a pair of doubles, and the error bound of a kernel that adds in double in any order.
struct ReduceReference {
  double value = 0; ///< the sum or the maximum
  double bound = 0; ///< the largest error of a correct kernel; 0 where the result has to be exact
  /// Σx² of whole numbers, exact. Empty of other types, and where int64 does not hold the sum.
  std::optional<std::int64_t> whole = std::nullopt;
};
/// Computes the reference of a reduction on host memory, and its bound.
TESSERA_API ReduceReference reduce_reference(const ReduceCall& call);

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
