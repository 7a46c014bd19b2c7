#pragma once

/// The arithmetic of Math::Int8Units, as code for any machine (docs/contract.md): how lines of f64 operands become
/// whole numbers, which results their product is accurate enough for, and how an exact sum is rounded.
///
/// A line is a row of op(A) or a column of op(B). It is multiplied by a power of two and rounded to whole numbers of
/// whole_number_bits(k) bits. The sum of products of whole numbers is exact; kernels compute it modulo 15 numbers of 8
/// bits, by int8 units, and put the residues together (Chinese remainder theorem). An element of C whose error might
/// exceed the strict product's bound is the strict sum. Sources: Ozaki, Uchino and Imamura, "Ozaki Scheme II", 2025
/// (residues); the certificate of each element is Tessera's.

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include <tessera/detail/export.hpp>
#include <tessera/types.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera::detail::int8 {

__extension__ using Wide = __int128;                  ///< holds an exact sum: |sum| ≤ 2¹¹⁶
__extension__ using UnsignedWide = unsigned __int128; ///< holds the product of all moduli

/// Says whether the mode is the strict product: where making residues takes longer than they save, and where k is too
/// large for whole numbers. It depends on k alone.
TESSERA_HOST_DEVICE constexpr bool is_strict(Index k) noexcept { return k <= 1024 || k > Index{1} << 30; }

/// Pairwise coprime numbers, whose product is above 2¹¹⁷ and below 2¹¹⁸. A residue fits 8 bits with a sign.
inline constexpr std::array moduli{256, 255, 253, 251, 247, 241, 239, 233, 229, 227, 223, 217, 211, 199, 197};

/// Returns p: elements of a line become whole numbers of magnitude 2^p at most, so that k·2^2p ≤ 2¹¹⁶.
TESSERA_HOST_DEVICE constexpr int whole_number_bits(Index k) noexcept {
  int log2_k = 0;
  while (Index{1} << log2_k < k) ++log2_k;
  return (116 - log2_k) / 2;
}

/// Returns 2^exponent, a normal number.
TESSERA_HOST_DEVICE constexpr double power_of_two(int exponent) noexcept {
  return __builtin_bit_cast(double, static_cast<std::uint64_t>(exponent + 1023) << 52);
}

/// Bits of the size of an element: size(x) = ⌊|x|·2^(7 − exponent)⌋, from 0 to 127.
inline constexpr int size_bits = 7;

/// The powers of two of lines that become whole numbers. A line with NaN, Inf, or a largest magnitude that is neither 0
/// nor 2⁻⁹⁰¹ or more, does not: its elements of C are strict.
inline constexpr int least_exponent = -900;

/// What the certificate knows of a line.
struct Line {
  int exponent = 0;          ///< the largest magnitude is in [2^(exponent − 1), 2^exponent); least_exponent for zeros
  std::int64_t nonzeros = 0; ///< elements other than 0; −1: the line does not become whole numbers
  std::int64_t size_sum = 0; ///< of all elements

  /// Does the line become whole numbers?
  TESSERA_HOST_DEVICE constexpr bool fits() const noexcept { return nonzeros >= 0; }
};

/// Returns the exponent of a line whose largest magnitude is `largest`, which is finite; least_exponent for 0. An
/// exponent below least_exponent says that the line does not fit.
TESSERA_HOST_DEVICE constexpr int exponent_of_line(double largest) noexcept {
  if (largest == 0) return least_exponent;
  return static_cast<int>(__builtin_bit_cast(std::uint64_t, largest) >> 52 & 2047) - 1022;
}

/// Says whether an element of C is the rounded sum of whole numbers. `sizes` is the sum over k of the products of both
/// elements' sizes. If not, the element is strict.
///
/// With E = 2^(exponent of a + exponent of b): Σ|a||b| ≥ sizes·2⁻¹⁴·E. Rounding a line changes an element by half a
/// unit at most, and only where it is not 0, so that the sum changes by (T + n·2^(6 − p))·2^(−p − 8)·E at most, where T
/// is the sum of both lines' elements beside which the other line is not 0, in units of size, rounded up, and n ≤ k the
/// number of these. That and one rounding of the sum are below the bound of a strict sum of k > 1024 terms if (T +
/// 1)·2^(−p − 8) ≤ 1022·2⁻⁵³·sizes·2⁻¹⁴.
TESSERA_HOST_DEVICE constexpr bool is_certain(const Line& a, const Line& b, std::int64_t sizes, int p) noexcept {
  if (!a.fits() || !b.fits()) return false;
  constexpr std::int64_t largest = std::int64_t{1} << size_bits;
  const std::int64_t of_a = a.size_sum + a.nonzeros, of_b = b.size_sum + b.nonzeros;
  const std::int64_t most_a = largest * b.nonzeros, most_b = largest * a.nonzeros;
  const std::int64_t total = (of_a < most_a ? of_a : most_a) + (of_b < most_b ? of_b : most_b);
  return total == 0 || (total + 1) << (59 - p) <= 1022 * sizes;
}

/// Returns sum·2^exponent, rounded once to nearest, ties to even, whether the result is normal or not; Inf where it is
/// too large.
TESSERA_HOST_DEVICE constexpr double rounded(Wide sum, int exponent) noexcept {
  auto rest = static_cast<UnsignedWide>(sum < 0 ? -sum : sum);
  if (rest == 0) return 0;
  const auto high = static_cast<std::uint64_t>(rest >> 64);
  int width = 64;
  if (high != 0)
    while (width < 128 && high >> (width - 64) != 0) ++width;
  else
    while (static_cast<std::uint64_t>(rest) >> (width - 1) == 0) --width;
  const int to_normal = width - 53, to_subnormal = -1074 - exponent;
  const int drop = to_normal > to_subnormal ? to_normal : to_subnormal; // device code has no std::max
  if (drop > width) return sum < 0 ? -0.0 : 0.0;
  if (drop > 0) {
    const UnsignedWide kept = rest >> drop, half = UnsignedWide{1} << (drop - 1), lost = rest - (kept << drop);
    rest = kept + (lost > half || (lost == half && (kept & 1) != 0) ? 1 : 0);
    exponent += drop;
  }
  const double magnitude = static_cast<double>(static_cast<std::uint64_t>(rest)) * power_of_two(exponent / 2) *
                           power_of_two(exponent - exponent / 2);
  return sum < 0 ? -magnitude : magnitude;
}

/// Returns a line's facts. An element i of the line is at data[i·stride].
inline Line describe(const double* data, Index stride, Index k) noexcept {
  double largest = 0;
  bool finite = true;
  for (Index i = 0; i < k; ++i) {
    const double x = std::abs(data[i * stride]);
    finite = finite && std::isfinite(x);
    largest = std::max(largest, x);
  }
  Line line;
  line.exponent = finite ? exponent_of_line(largest) : least_exponent;
  if (!finite || line.exponent < least_exponent) return {.nonzeros = -1};
  const double unit = power_of_two(size_bits - line.exponent);
  for (Index i = 0; i < k; ++i) {
    const double x = std::abs(data[i * stride]);
    line.nonzeros += x != 0;
    line.size_sum += static_cast<std::int64_t>(x * unit);
  }
  return line;
}

} // namespace tessera::detail::int8

#include <tessera/detail/macros_on.hpp>
