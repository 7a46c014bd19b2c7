#pragma once

/// Freivalds' check: tests a whole product without computing it again. C and the operands are multiplied by random
/// vectors x of ±1: C·x must be alpha·A·(B·x) + beta·C₀·x. Each vector costs O(mn + nk + mk) instead of O(mnk).
///
/// Source: R. Freivalds, "Probabilistic machines can use less running time" (IFIP Congress 1977), for exact arithmetic.
/// This check allows for rounding: if each element of row i keeps its bound (compare.hpp), then
///     |(C·x)_i − (alpha·A·B·x + beta·C₀·x)_i| ≤ w_i = Σ_j bound_ij,
/// because x holds only ±1. All w_i cost as much as one vector, because the bounds are sums of |A|·(|B|·1), |C₀|·1 and
/// constants.
/// The right-hand side is computed in double (f32) or pairs of doubles (f64), and its own error is added to w_i.
///
/// The check detects the following. Let e_j be the errors of row i; the row is right if every |e_j| ≤ bound_ij.
///   - One wrong element in a row, off by more than 2·w_i: always, by every vector.
///   - Any number of wrong elements in a row, one of them off by more than w_i: each vector with probability ≥ 1/2,
///     whatever the others are (of the two signs that x_j may have one makes the sum at least |e_j|), so that v vectors
///     miss it with probability ≤ 2^−v.
///   - Errors in a row that are all smaller than w_i: if √Σe_j² = t·w_i with t > 1, each vector with probability
///     ≥ (1 − 1/t²)²/3 (Paley and Zygmund), so many small errors add up.
///
/// It cannot detect an element that exceeds its own bound but stays below w_i, which is about n times larger, if the
/// rest of its row is right. For such errors some rows are compared element by element (GemmReference). A row that may
/// be affected by NaN, Inf or overflow is not judged; one NaN or Inf in B affects all rows. The result says how many
/// rows were judged.

#include <memory>

#include <tessera/checking/compare.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

/// The outcome of a check.
struct FreivaldsResult {
  int vectors = 0;           ///< number of random vectors
  Index rows = 0;            ///< of C
  Index rows_judged = 0;     ///< rows that NaN, Inf or overflow cannot affect
  double max_over_bound = 0; ///< largest |(C·x)_i − …| / w_i; infinite if C has NaN or Inf in a row that is judged
  Index worst_row = -1;      ///< row of max_over_bound; −1 if no row differs

  /// Is every row that was judged within its bound?
  bool within_bound() const noexcept { return max_over_bound <= 1.0; }
  /// Was every row judged?
  bool complete() const noexcept { return rows_judged == rows; }
};

/// The right-hand sides alpha·A·(B·x) + beta·C₀·x of one product, to check any number of computed results with.
class TESSERA_API FreivaldsCheck {
 public:
  static constexpr int default_vectors = 16; ///< 2⁻¹⁶ = 1.5·10⁻⁵

  /// Takes a checked call on host memory. C must have its value from before the product; it is read if beta ≠ 0. No
  /// pointer of the call is kept. The vectors depend only on the seed. `vectors` is rounded up to a multiple of 16.
  /// threads = 0: default_threads(). Throws InvalidArgument and OutOfMemory.
  explicit FreivaldsCheck(const GemmCall& call, std::uint64_t seed, int vectors = default_vectors, int threads = 0);
  /// Frees the right-hand sides.
  ~FreivaldsCheck();
  /// Takes the other check, which can then only be assigned to or destroyed.
  FreivaldsCheck(FreivaldsCheck&&) noexcept;
  /// Takes the other check, which can then only be assigned to or destroyed.
  FreivaldsCheck& operator=(FreivaldsCheck&&) noexcept;

  /// Checks an m×n result in host memory, and reads each of its elements once.
  FreivaldsResult check(const void* c, Index ldc, const Arithmetic& arithmetic, int threads = 0) const;

  struct State; ///< the library's own

 private:
  std::unique_ptr<const State> state_;
};

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
