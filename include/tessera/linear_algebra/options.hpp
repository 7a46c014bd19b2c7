#pragma once

/// What the functions of linear algebra have in common.

#include <atomic>
#include <complex>
#include <concepts>

#include <tessera/detail/export.hpp>
#include <tessera/types.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

/// The choices of a caller. No result depends on backend and threads, to the bit (docs/contract.md, "Linear algebra").
struct SolveOptions {
  /// The backend of the products, which are nearly all of the work. What divides runs on the host, or on a CUDA device
  /// that has a matrix as a whole. A backend that is named is used, or the call throws. Backend::Reference
  /// computes everything by the contract's formulas, serially.
  Backend backend = Backend::Auto;
  int threads = 0; ///< of the host; 0: default_threads()
  /// Of solve() in f64 alone; other functions refuse it. The matrix is factored in f32, and the solution refined to
  /// f64: its bits are other ones, which depend on A and B alone as well.
  bool refine = false;
  /// With refine alone; other functions refuse another one than Strict. The mode of the products that subtract a whole
  /// segment of 1024 columns from the rest of a real matrix, most of the factorisation: EmulatedFp16x3 or ScaledFp16,
  /// which are fast on a GPU with matrix units. Bits depend on it, and are the mode's own ones (docs/contract.md).
  Math math = Math::Strict;
};

namespace detail {
/// Throws InvalidArgument where a function is asked to refine that does not, or for a mode of products.
TESSERA_API void expect_no_refinement(const char* function, const SolveOptions& options);

/// What happens where the memory is short. By default OutOfMemory is thrown; of a function whose result is in the
/// caller's memory, as long as that is as it was: once a part of it is written, slow loops that need no memory compute
/// the rest, with the same bits. For an interface that reports no errors, `routine` names its function: the loops go on
/// in any case, and the shortage is said on stderr.
struct Shortage {
  const char* routine = nullptr;
  std::atomic<bool>* is_written = nullptr; ///< whether a part of the caller's memory is; null: none that counts
};

/// The numbers of the level 3 BLAS.
template <class T>
concept Real = std::same_as<T, float> || std::same_as<T, double>;
template <class T>
concept Complex = std::same_as<T, std::complex<float>> || std::same_as<T, std::complex<double>>;
template <class T>
concept RealOrComplex = Real<T> || Complex<T>;
} // namespace detail

/// The triangle of a matrix that is read; the other one may hold anything.
enum class Triangle : int {
  Lower = 0, ///< on and below the diagonal
  Upper = 1, ///< on and above the diagonal
};

/// The diagonal of a triangle.
enum class Diagonal : int {
  Stored = 0, ///< as it is in memory
  Unit = 1,   ///< all ones; the memory is not read
};

/// The side of the other matrix on which a triangle, or a symmetric matrix, stands.
enum class Side : int {
  Left = 0,  ///< T·X = B, or T·B
  Right = 1, ///< X·T = B, or B·T
};

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
