#pragma once

/// Freivalds' check: tests a whole product without computing it again. C and the operands are multiplied by random
/// vectors x of ±1: C·x must be alpha·A·(B·x) + beta·C₀·x. Each vector costs O(mn + nk + mk) instead of O(mnk).
///
/// It allows for rounding: row i may be off by w_i, the sum of the bounds of its elements (compare.hpp). One wrong
/// element that is off by more than 2·w_i is always found; an element that is off by less than w_i, in a row that is
/// otherwise right, is not. docs/error_bounds.md has the proof and the probabilities between. A row that NaN, Inf or
/// overflow may affect is not judged, and the result says how many rows were.
///
/// Source: R. Freivalds, "Probabilistic machines can use less running time" (IFIP Congress 1977), for exact arithmetic.

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
