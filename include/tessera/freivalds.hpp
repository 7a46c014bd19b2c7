#pragma once

/// Is a product right everywhere, without computing it again? C is multiplied by random vectors of ±1, and so are the
/// operands: C·x must be alpha·A·(B·x) + beta·C₀·x. That costs O(mn + nk + mk) for each vector instead of O(mnk).
///
/// R. Freivalds, "Probabilistic machines can use less running time" (IFIP Congress 1977), for exact arithmetic. Here
/// rounding is allowed for: if each element of row i keeps its bound (compare.hpp), then
///     |(C·x)_i − (alpha·A·B·x + beta·C₀·x)_i| ≤ w_i = Σ_j bound_ij,
/// for x holds nothing but ±1; and w_i costs O(n) too, for the bounds are sums of |A|·(|B|·1), |C₀|·1 and constants.
/// The right-hand side is computed in double (f32) or pairs of doubles (f64), and its own error is added to w_i.
///
/// What it detects. Let e_j be the errors of row i beyond which all is well if |e_j| ≤ bound_ij.
///   - One wrong element in a row, off by more than 2·w_i: always, by every vector.
///   - Any number of wrong elements in a row, one of them off by more than w_i: each vector with probability ≥ 1/2,
///     whatever the others are (of the two signs that x_j may have one makes the sum at least |e_j|), so that v vectors
///     miss it with probability ≤ 2^−v.
///   - Errors in a row that are all smaller than w_i: if √Σe_j² = t·w_i with t > 1, each vector with probability
///     ≥ (1 − 1/t²)²/3 (Paley and Zygmund), so many small errors add up.
/// What it cannot: an element that leaves its own bound but stays below w_i, which is about n times larger, if the rest
/// of its row is right. Rows for that are compared element by element (GemmReference). A row that NaN, Inf or a
/// possible overflow reaches is not judged, and one NaN or Inf in B reaches all: the result says how many rows were.

#include <memory>

#include <tessera/compare.hpp>

namespace tessera {

struct FreivaldsResult {
  int vectors = 0;
  Index rows = 0;            ///< of C
  Index rows_judged = 0;     ///< those that no NaN, Inf or overflow may reach
  double max_over_bound = 0; ///< largest |(C·x)_i − …| / w_i; infinite if C has NaN or Inf in a row that is judged
  Index worst_row = -1;      ///< where; −1 if nothing is off

  bool within_bound() const noexcept { return max_over_bound <= 1.0; }
  bool complete() const noexcept { return rows_judged == rows; }
};

/// One product's right-hand sides, for any number of computed results.
class TESSERA_API FreivaldsCheck {
 public:
  static constexpr int default_vectors = 16; ///< 2⁻¹⁶ = 1.5·10⁻⁵

  /// Takes a checked call on host memory, as GemmReference does; C is read if beta ≠ 0. Nothing of the call is kept.
  /// The vectors depend on the seed alone. `vectors` is rounded up to a multiple of 16. threads = 0: default_threads().
  /// Throws InvalidArgument and OutOfMemory.
  explicit FreivaldsCheck(const GemmCall& call, std::uint64_t seed, int vectors = default_vectors, int threads = 0);
  ~FreivaldsCheck();
  FreivaldsCheck(FreivaldsCheck&&) noexcept;
  FreivaldsCheck& operator=(FreivaldsCheck&&) noexcept;

  /// A whole m×n result in host memory, all of which is read once.
  FreivaldsResult check(const void* c, Index ldc, const Arithmetic& arithmetic, int threads = 0) const;

  struct State; ///< the library's own

 private:
  std::unique_ptr<const State> state_;
};

} // namespace tessera
