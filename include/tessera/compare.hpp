#pragma once

/// How wrong is a product? A computed C is measured against a reference in higher precision and against a bound
/// that every correct kernel of its kind keeps.
///
///     GemmReference reference(call);                       // host operands, C as it was before the product
///     GemmError error = reference.compare(c, ldc, Arithmetic::of(row));
///     if (!error.within_bound()) …
///
/// References: f32, f16 and bf16 in f64; f64 in a pair of doubles (about 106 bits; Dekker, Knuth; Ogita, Rump, Oishi
/// 2005). They are computed here and share nothing with the backends, so that a kernel is never judged by itself.
///
/// The bound, for one element. Let u be the unit roundoff (2⁻²⁴ or 2⁻⁵³), v = u, or 2u where the accumulator
/// truncates, γ_n(v) = n·v / (1 − n·v), and S = Σ|a_ip||b_pj|, which is computed in the same pass as the reference.
///   1. Summed in any order, fused or not, no term a_ip·b_pj passes more than k roundings (one for the product, one
///      for each addition on its way): |ŝ − s| ≤ γ_k(v)·S. (Higham, Accuracy and Stability, §3.1 and §4.2.)
///   2. Multiplying by alpha and adding beta·C add one rounding each, or none where alpha = ±1 or beta = 0. A kernel
///      may add each slice of K to C, so that C passes as many roundings as a term; a canonical one adds it last:
///      |ĉ − c| ≤ γ_{k+2}(v)·(|alpha|·S + |beta||C|).
///   3. Inputs rounded to a narrower type, â = a(1 + δ) + η, |δ| ≤ r, |η| ≤ h, change each term by at most
///      (2r + r²)|a||b| + h(1 + r)(|a| + |b|) + h². r is 2⁻¹⁰ for tf32 (rounded or cut), 2⁻⁸ for bf16, 2⁻¹¹ for fp16.
///      Split operands leave r = 2⁻²² (two fp16 parts) or 2⁻²⁴ (three bf16 parts), plus the products that are left
///      out, and have three or six times as many terms. For two fp16 parts h is 2⁻³⁹ of the largest element of the row
///      of op(A), or column of op(B): a power of two brings that one to 2¹⁴ or more before the operand is split.
///   4. An accumulator at least twice as wide rounds once at the end: u|c| + γ_{k+2}(u²)·(…) for f32, γ²_{2k+4}(u)·(…)
///      for pairs of doubles. Kahan's sum: (3v + 8kv²)·S (Goldberg 1991, theorem 8, and the product's rounding).
///   5. Underflow: each operation may lose half a subnormal step more.
///   6. The reference's own error and that of computing S are added to the bound.
///   7. 16-bit operands: all of this holds as for f32, 3 but for no rounding of inputs (r = h = 0). A result r̂ in f32
///      that is off by e is then rounded to C's type if that has 16 bits, to nearest with unit roundoff w (2⁻¹¹ for
///      f16, 2⁻⁸ for bf16) and half a subnormal step s (2⁻²⁵, 2⁻¹³⁴): |ĉ − c| ≤ e + w|r̂| + s ≤ (1 + w)e + w|c| + s.
/// Comparisons are written so that NaN fails. NaN and Inf in the inputs must come out exactly where IEEE arithmetic
/// puts them. Where finite inputs may overflow on the way, which depends on the order, Inf and NaN are accepted, and
/// NaN where an infinite input would make Inf; NaN there also in modes that round inputs: a tiny one becomes zero.
/// γ_n(v) is infinite from n·v = 1/2 on: the bound then says nothing (f32: k = 2²³).

#include <memory>
#include <vector>

#include <tessera/backend/kernel.hpp>
#include <tessera/detail/export.hpp>
#include <tessera/types.hpp>
#include <tessera/ulp.hpp>

namespace tessera {

/// What decides how far a kernel may be off.
struct Arithmetic {
  DType type = DType::F32;
  Math math = Math::Strict;
  Summation summation = Summation::Other;
  Accumulator accumulator = Accumulator::Native;

  static Arithmetic of(const GemmKernel& row) { return {row.type, row.math, row.summation, row.accumulator}; }
};

/// One element that is off.
struct WorstElement {
  Index row = -1;
  Index col = -1;
  double computed = 0;
  double exact = 0; ///< rounded to double
  double bound = 0;
  double over_bound = 0; ///< |Δ| / bound; infinite where a NaN or Inf is misplaced
};
inline constexpr std::size_t worst_elements = 8; ///< that are kept

/// How many elements are NaN, and how many are infinite.
struct NonFinite {
  Index nan = 0;
  Index inf = 0;
  NonFinite& operator+=(const NonFinite& other) {
    nan += other.nan;
    inf += other.inf;
    return *this;
  }
};

/// Errors of the elements in the compared rows. Relative errors are |Δ| / |exact|, infinite where an exact zero was
/// missed. Elements that are NaN or Inf on both sides count as equal; one that is so on one side alone makes every
/// error infinite, unless finite inputs may overflow there: then it counts in no error but in `ulps`.
///
/// u is the unit roundoff of C's type: 2⁻²⁴, 2⁻⁵³, 2⁻¹¹ (f16) or 2⁻⁸ (bf16). The three errors in units of u are what
/// Demmel's grades are about (grade.hpp); by Cauchy and Schwarz each is at most as large as the one before it, but for
/// norm_product's rounding.
struct GemmError {
  Index rows = 0;           ///< of C
  Index rows_compared = 0;  ///< all of them, or a sample
  double total_abs = 0;     ///< Σ|gold − c|, gold rounded to C's type
  double max_abs = 0;       ///< against the unrounded reference, like those below
  double max_rel = 0;       ///< largest relative error
  double mean_rel = 0;      ///< over the compared elements
  double normwise = 0;      ///< ‖Δ‖ / ‖C‖, Frobenius norms of the compared rows
  double componentwise = 0; ///< largest |Δ_ij| / u(|alpha|(|A||B|)_ij + |beta||C_ij|)
  double row_column = 0; ///< largest |Δ_ij| / u(|alpha|‖a_i‖‖b_j‖ + |beta||C_ij|), Euclidean norms of row and column
  double norm_product = 0; ///< ‖Δ‖ / u(|alpha|‖A‖‖B‖ + |beta|‖C‖), Frobenius; rows of A that were not compared left out
  double max_over_bound = 0; ///< largest |Δ| / bound: at most 1 for a correct kernel
  Index differing_bits = 0;  ///< elements whose bits are not the canonical product's (any NaN equals any NaN)
  Index misplaced = 0;       ///< NaN or Inf where there should be none, or none where there should be
  Index worst_row = -1;      ///< where max_over_bound is; −1 if no element is off
  Index worst_col = -1;
  UlpHistogram ulps;               ///< distances from gold
  std::vector<WorstElement> worst; ///< by |Δ| / bound, the worst first; none that is exact
  NonFinite expected, found;       ///< in gold and in the compared result

  bool within_bound() const noexcept { return misplaced == 0 && max_over_bound <= 1.0; }
};

/// One product in high precision, with |A||B| and the canonical bits, for all rows of C or some.
class TESSERA_API GemmReference {
 public:
  /// Takes a checked call on host memory; C holds what it held before the product and is read if beta ≠ 0. Nothing
  /// of the call is kept. `rows` lists the rows of C to compute, ascending. threads = 0: default_threads().
  /// Costs about 2·rows·n·k multiply-adds in double (f32), or ten times as many operations (f64).
  /// Throws InvalidArgument and OutOfMemory.
  GemmReference(const GemmCall& call, std::vector<Index> rows, int threads = 0);
  explicit GemmReference(const GemmCall& call, int threads = 0);
  ~GemmReference();
  GemmReference(GemmReference&&) noexcept;
  GemmReference& operator=(GemmReference&&) noexcept;

  /// Errors of a whole m×n result in host memory; only the rows of this reference are read. The number of threads does
  /// not change the result.
  GemmError compare(const void* c, Index ldc, const Arithmetic& arithmetic, int threads = 0) const;

  const std::vector<Index>& rows() const;
  /// Row `r` of rows(), as gold and as canonical summation give it: n elements of the call's result type.
  const void* gold(Index r) const;
  const void* canonical(Index r) const;

  struct State; ///< the library's own

 private:
  std::unique_ptr<const State> state_;
};

/// `count` rows of m, ascending, first and last among them and the rest spread at random; all if count ≥ m.
TESSERA_API std::vector<Index> sample_rows(Index m, Index count, std::uint64_t seed);

/// A reduction in a pair of doubles, and how far a kernel that adds in double, in any order, may be off.
struct ReduceReference {
  double value = 0;
  double bound = 0;
};
TESSERA_API ReduceReference reduce_reference(const ReduceCall& call);

} // namespace tessera
