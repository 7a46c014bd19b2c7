#pragma once

/// The arithmetic of the emulated modes (EmulatedFp16x3, EmulatedBf16x6, ScaledFp16) on Hopper's matrix units: how
/// elements are scaled and split into terms, and how the products of terms are added. It gives the bits of
/// docs/contract.md on any machine, from the model of the matrix units (matrix_unit.hpp).
///
/// Each term is what the terms before it leave of an element, rounded to nearest: two f16 terms keep 22 bits, three
/// bf16 terms keep 24, and the one term of ScaledFp16 keeps 11. f16 has few exponents, so that each chunk of a row of
/// op(A), or of a column of op(B), is scaled first. Sources: Ootomo and Yokota (IJHPCA 2022) for f16; Henry, Tang and
/// Heinecke (ARITH 2019) for bf16.

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>

#include <tessera/backend/kernel.hpp>
#include <tessera/detail/emulated_segments.hpp>
#include <tessera/detail/matrix_unit.hpp>
#include <tessera/half.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera::detail::hopper {

/// A product of two terms: term number `a` of an element of op(A) and term number `b` of one of op(B). Term 0 is the
/// largest one.
struct TermProduct {
  int a;
  int b;
};

/// How an emulated mode computes.
struct Emulation {
  int terms;                           ///< terms of an element
  bool scaled;                         ///< chunks have scales
  Index chain_k;                       ///< k whose products are one chain of steps
  OperandFormat format;                ///< of the terms
  std::array<TermProduct, 6> products; ///< what is added for each 16 k, in this order
  int count;                           ///< number of products
  Index strict_k;                      ///< k up to which the mode is the strict product

  /// Returns the products in the order in which they are added.
  constexpr std::span<const TermProduct> order() const noexcept {
    return std::span(products).first(static_cast<std::size_t>(count));
  }
};
inline constexpr Emulation fp16x3{
    2, true, emulated_chunk, f16_operands, {{{1, 0}, {0, 1}, {0, 0}}}, 3, emulated_strict_k(Math::EmulatedFp16x3)};
inline constexpr Emulation bf16x6{3,
                                  false,
                                  64,
                                  bf16_operands,
                                  {{{2, 0}, {1, 1}, {0, 2}, {1, 0}, {0, 1}, {0, 0}}},
                                  6,
                                  emulated_strict_k(Math::EmulatedBf16x6)};
inline constexpr Emulation scaled_fp16{
    1, true, emulated_chunk, f16_operands, {{{0, 0}}}, 1, emulated_strict_k(Math::ScaledFp16)};
inline constexpr int most_terms = 3; ///< of an element, in any mode

/// Does the mode scale its operands, or split them into terms?
constexpr bool is_emulated(Math math) noexcept {
  return math == Math::EmulatedFp16x3 || math == Math::EmulatedBf16x6 || math == Math::ScaledFp16;
}

/// Returns how an emulated mode computes.
constexpr const Emulation& emulation_of(Math math) noexcept {
  return math == Math::EmulatedFp16x3 ? fp16x3 : math == Math::ScaledFp16 ? scaled_fp16 : bf16x6;
}

/// The scale of a chunk of a row, 2^e, and the factor that undoes it, 2^−e. Both are normal numbers.
struct ChunkScale {
  float scale;
  float factor;

  /// Takes the bits of the largest magnitude of the chunk, a finite number. 2^e brings it to [2¹⁴, 2¹⁵), but e is at
  /// most 126, which makes every f32 number a multiple of 2⁻²³. A chunk of zeros has the scale 1.
  explicit ChunkScale(std::uint32_t largest) noexcept {
    const std::uint32_t exponent = largest == 0 ? 141u : std::max(largest >> 23, 15u);
    scale = std::bit_cast<float>((141 + 127 - exponent) << 23);
    factor = std::bit_cast<float>((exponent - 14) << 23);
  }
};

/// Returns the bits of |x|. Magnitudes compare as their bits do.
inline std::uint32_t magnitude_bits(float x) noexcept { return std::bit_cast<std::uint32_t>(x) & 0x7fffffffu; }

/// Can the mode split the element? It cannot split NaN, Inf, and what rounds to Inf in the type of the terms; f16's
/// elements are scaled before.
inline bool can_be_split(float x, bool scaled) noexcept {
  constexpr std::uint32_t infinity = 0x7f800000, rounds_to_infinity = 0x7f7f8000; // in bf16, from 2¹²⁸ − 2¹¹⁹ on
  return magnitude_bits(x) < (scaled ? infinity : rounds_to_infinity);
}

/// Returns the terms of a number, the largest one first. Each subtraction is exact.
template <class Term, int count>
std::array<float, count> split(float x) noexcept {
  std::array<float, count> terms;
  for (float& term : terms) {
    term = static_cast<float>(Term(x));
    x -= term;
  }
  return terms;
}

/// Returns carried + sum·(the factor of a row)·(the factor of a column) with one rounding. If it overflows or
/// underflows, it does so as if the product had been exact. |sum| is 0, or at least 2⁻⁴⁸ and under 2³⁸, as the sums of
/// chunks of f16 terms are.
inline float add_scaled(float carried, float sum, float row_factor, float column_factor) noexcept {
  const auto exponent = [](float factor) { return static_cast<int>(std::bit_cast<std::uint32_t>(factor) >> 23) - 127; };
  const auto power = [](int e) { return std::bit_cast<float>(static_cast<std::uint32_t>(e + 127) << 23); };
  const int e = exponent(row_factor) + exponent(column_factor);
  const int first = std::clamp(e, -78, 89); // the product of this power and a sum is exact
  return std::fma(sum * power(first), power(std::clamp(e - first, -126, 127)), carried);
}

/// Some k of a row of op(A), or of a column of op(B), as terms. After the last one there are zeros.
struct SplitChain {
  std::array<std::array<float, emulated_chunk>, most_terms> terms{};
  float factor = 1;

  /// Splits numbers that the mode can split. A chain of a mode with scales is a whole chunk.
  SplitChain(std::span<const float> numbers, const Emulation& how) noexcept {
    std::uint32_t largest = 0;
    for (const float x : numbers) largest = std::max(largest, magnitude_bits(x));
    const ChunkScale scale(largest);
    if (how.scaled) factor = scale.factor;
    const auto keep = [&](std::size_t p, const auto& parts) {
      for (std::size_t t = 0; t < parts.size(); ++t) terms[t][p] = parts[t];
    };
    for (std::size_t p = 0; p < numbers.size(); ++p)
      if (!how.scaled)
        keep(p, split<bf16, 3>(numbers[p]));
      else if (how.terms == 2)
        keep(p, split<f16, 2>(numbers[p] * scale.scale));
      else
        keep(p, split<f16, 1>(numbers[p] * scale.scale));
  }

  /// Returns the operands of the step that begins with number p.
  std::span<const float> step(int term, std::size_t p, const Emulation& how) const noexcept {
    return std::span(terms[static_cast<std::size_t>(term)]).subspan(p, static_cast<std::size_t>(how.format.step));
  }
};

/// Returns the chain of steps of the terms' products, over `count` k.
inline float chain_of_terms(const SplitChain& a, const SplitChain& b, std::size_t count,
                            const Emulation& how) noexcept {
  float sum = 0;
  for (std::size_t p = 0; p < count; p += static_cast<std::size_t>(how.format.step))
    for (const TermProduct& product : how.order())
      sum = multiply_add(a.step(product.a, p, how), b.step(product.b, p, how), sum, how.format);
  return sum;
}

/// Returns the sum of Math::Strict: segments of fused multiply-adds in ascending order.
inline float strict_sum(std::span<const float> a, std::span<const float> b) noexcept {
  constexpr auto length = static_cast<std::size_t>(canonical_segment);
  float sum = 0;
  for (std::size_t first = 0; first < a.size(); first += length) {
    float segment = 0;
    for (std::size_t p = first; p < std::min(first + length, a.size()); ++p) segment = std::fma(a[p], b[p], segment);
    sum = first == 0 ? segment : sum + segment;
  }
  return sum;
}

/// Returns the sum of a row of op(A) and a column of op(B) in an emulated mode.
inline float emulated_sum(std::span<const float> a, std::span<const float> b, const Emulation& how) noexcept {
  const auto fits = [&](float x) { return can_be_split(x, how.scaled); };
  if (a.size() <= static_cast<std::size_t>(how.strict_k) || !std::ranges::all_of(a, fits) ||
      !std::ranges::all_of(b, fits))
    return strict_sum(a, b);
  const auto chain_k = static_cast<std::size_t>(how.chain_k);
  const auto length = static_cast<std::size_t>(emulated_segment_chunks(static_cast<Index>(a.size())) * emulated_chunk);
  float sum = 0;
  for (std::size_t first = 0; first < a.size(); first += length) {
    const std::size_t end = std::min(first + length, a.size());
    float carried = 0;
    for (std::size_t p = first; p < end; p += chain_k) {
      const std::size_t count = std::min(chain_k, end - p);
      const SplitChain row(a.subspan(p, count), how), column(b.subspan(p, count), how);
      const float chain = chain_of_terms(row, column, count, how);
      carried = how.scaled ? add_scaled(carried, chain, row.factor, column.factor) : carried + chain;
    }
    sum = first == 0 ? carried : sum + carried;
  }
  return sum;
}

} // namespace tessera::detail::hopper

#include <tessera/detail/macros_on.hpp>
