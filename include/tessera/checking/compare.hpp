#pragma once

/// The error of a product. A computed C is compared with a reference in higher precision, and with a bound that every
/// correct kernel of its kind keeps.
///
///     GemmReference reference(call);                       // host operands, C as it was before the product
///     GemmError error = reference.compare(c, ldc, Arithmetic::of(row));
///     if (!error.within_bound()) …
///
/// The reference of f32, f16 and bf16 products is computed in f64; that of f64 products in a pair of doubles (about 106
/// bits; Dekker, Knuth; Ogita, Rump, Oishi 2005). References share no code with the backends, so that no kernel is
/// compared with itself.
///
/// The bound of one element. Let u be the unit roundoff (2⁻²⁴ or 2⁻⁵³), v = u, or 2u where the accumulator
/// truncates, γ_n(v) = n·v / (1 − n·v), and S = Σ|a_ip||b_pj|, which is computed in the same pass as the reference.
///   1. In a sum in any order, fused or not, no term a_ip·b_pj passes more than k roundings (one for the product, one
///      for each addition on its way): |ŝ − s| ≤ γ_k(v)·S. (Higham, Accuracy and Stability, §3.1 and §4.2.)
///   2. Multiplying by alpha and adding beta·C add one rounding each, or none where alpha = ±1 or beta = 0. A kernel
///      may add each slice of K to C, so that C passes as many roundings as a term; a canonical one adds it last:
///      |ĉ − c| ≤ γ_{k+2}(v)·(|alpha|·S + |beta||C|).
///   3. Inputs rounded to a narrower type, â = a(1 + δ) + η, |δ| ≤ r, |η| ≤ h, change each term by at most
///      (2r + r²)|a||b| + h(1 + r)(|a| + |b|) + h². r is 2⁻¹⁰ for tf32 (rounded or cut), 2⁻⁸ for bf16, 2⁻¹¹ for fp16.
///      Split operands leave r = 2⁻²² (two fp16 parts) or 2⁻²⁴ (three bf16 parts), plus the products that are left
///      out, and have three or six times as many terms. For two fp16 parts h is 2⁻³⁹ of the largest element of the row
///      of op(A), or column of op(B): in each chunk of 128 k a power of two brings the largest one to 2¹⁴ or more
///      before the operand is split, so that the chunk's largest element would do.
///   4. An accumulator at least twice as wide rounds once at the end: u|c| + γ_{k+2}(u²)·(…) for f32, γ²_{2k+4}(u)·(…)
///      for pairs of doubles. Kahan's sum: (3v + 8kv²)·S (Goldberg 1991, theorem 8, and the product's rounding).
///   5. Underflow: each operation may lose half a subnormal step more.
///   6. The reference's own error and that of computing S are added to the bound.
///   7. Strassen's recursion mixes rows and columns, so that its error is relative to the largest elements: |ĉ − c| ≤
///      N·|alpha|·max|A|·max|B| + γ_2(v)·|beta||C|, where N comes from the number of levels, strassen_levels(m, n, k):
///      E_0 = γ_κ(v)·κ for the products of blocks with k = κ, and E_{d+1} = 12(1 + γ_5(v))·E_d + 12γ_5(v)·2^d·κ for
///      each level. docs/strassen.md derives it, with what does not divide by 2^levels, alpha and underflow. (Higham,
///      §23.2.2.)
///   8. For 16-bit operands all of this holds as for f32, without the rounding of inputs in 3 (r = h = 0). A result r̂
///      in f32 that is off by e is then rounded to C's type if that has 16 bits, to nearest with unit roundoff w (2⁻¹¹
///      for f16, 2⁻⁸ for bf16) and half a subnormal step s (2⁻²⁵, 2⁻¹³⁴): |ĉ − c| ≤ e + w|r̂| + s ≤ (1 + w)e + w|c| +
///      s.
///   9. Hopper's matrix units (Summation::HopperUnits) add 8 or 16 products and the chain in a step. Let 2^L be the
///      largest product of two factors' powers of two. It is at most the largest term M where no factor is subnormal.
///      All terms but one lose less than 2^(L−25), and the sum is cut to f32: a step of r products loses r·2⁻²⁵·M +
///      v·|sum|. Over all steps that is at most (k/4 + ⌈k/8⌉)·v·S for k > 1, within 1. (A single product fits f32.) The
///      least power of a subnormal f16 or bf16 factor is 2^e, e = −14 or −126, so that 2^L may be 2^e·max(|b|, 2^e)
///      beside a smaller term: a step loses 17·2^(e−25)·(|a| + |b| + 2^e) more.
///      For f32 operands this is within 3. h is 2⁻¹²⁶ for tf32 and bf16, also for three bf16 parts. For fp16 h(1 + 2⁻⁷)
///      is used, and a step with a subnormal factor loses 17·2⁻³⁹·|b| more, or nothing where the other factor b is
///      below 2⁻⁸, because all products are multiples of 2⁻⁴⁸. Two fp16 parts take three steps for 16 k. In a chunk
///      whose largest element becomes 2¹⁴ or more, these lose 51·2⁻⁵³ of that element times |b|, less than 2⁻⁷·h·|b|. A
///      chunk of elements below 2⁻¹¹² is scaled by 2¹²⁶ and loses 51·2⁻¹⁶⁵·|b|, so that h is 2⁻¹⁵⁹ more for any
///      element.
///
/// NaN fails every comparison with the bound. NaN and Inf in the inputs must give NaN and Inf exactly where IEEE
/// arithmetic does. Finite inputs may overflow in an intermediate sum, which depends on the order of additions: there
/// Inf and NaN are accepted, and NaN where an infinite input would give Inf. In modes that round inputs NaN is accepted
/// there too, because a tiny input becomes zero. A sum of Strassen's recursion may be NaN or overflow where no element
/// of C does; a row has to notice that and to compute such a C in a conventional way. γ_n(v) is infinite from n·v = 1/2
/// on: the bound then says nothing (f32: k = 2²³).

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

  /// Returns the properties of a row of a ladder.
  static Arithmetic of(const GemmKernel& row) { return {row.type, row.math, row.summation, row.accumulator}; }
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
  Index differing_bits = 0;        ///< elements without the bits of the contract of gemm.hpp (any NaN equals any NaN)
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

/// The reference of one product: all rows of C or some, in high precision, with |A||B| and with the canonical bits.
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

  /// Computes the bits that the contract of gemm.hpp gives the rows of this reference in the mode of `call`, a mode of
  /// matrix units. The call is the reference's own but for its mode, with C as it was before the product. From then on
  /// compare() counts the differing bits of a kernel with Summation::HopperUnits against these; without them, and for
  /// all other kernels, against the canonical product. A mode whose bits are there already costs nothing; another one
  /// costs about as much as the reference, and an emulated one three or six times as much. Throws InvalidArgument and
  /// OutOfMemory.
  void add_bits(const GemmCall& call, int threads = 0);

  /// Returns the errors of an m×n result in host memory, of which only the rows of this reference are read. The number
  /// of threads does not change them.
  GemmError compare(const void* c, Index ldc, const Arithmetic& arithmetic, int threads = 0) const;

  /// Returns the rows of C that the reference has, in ascending order.
  const std::vector<Index>& rows() const;
  /// Returns row rows()[r] of the reference, rounded: n elements of the call's result type.
  const void* gold(Index r) const;
  /// Returns row rows()[r] of the canonical product: n elements of the call's result type.
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
