#pragma once

/// The sums that docs/contract.md promises for the modes of matrix units, as code for any machine: Tf32, Bf16, Fp16,
/// EmulatedFp16x3, EmulatedBf16x6 and ScaledFp16.

#include <concepts>
#include <cstddef>
#include <span>

#include <tessera/detail/emulated_matrix_unit.hpp>
#include <tessera/detail/matrix_unit.hpp>
#include <tessera/detail/matrix_unit_segments.hpp>
#include <tessera/half.hpp>
#include <tessera/types.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera::detail::hopper {

/// Is there a contract of matrix units for operands of this type in the mode?
constexpr bool has_matrix_unit_contract(DType type, Math math) noexcept {
  if (is_16_bit(type)) return math == element_type(type).lossless_math;
  return type == DType::F32 && (math == Math::Tf32 || math == Math::Bf16 || math == Math::Fp16 || is_emulated(math));
}

/// Returns the format of the numbers that the matrix units multiply in the mode.
constexpr const OperandFormat& format_of(Math math) noexcept {
  return is_emulated(math)    ? emulation_of(math).format
         : math == Math::Tf32 ? tf32_operands
         : math == Math::Fp16 ? f16_operands
                              : bf16_operands;
}

/// Returns the number that a mode sees of an element of an operand; the emulated modes see all of it. op(A) and op(B)
/// are treated alike.
template <class T>
inline float seen_by_matrix_units(T x, Math math) noexcept {
  if constexpr (std::same_as<T, float>)
    return math == Math::Tf32   ? cut_to_tf32(x)
           : math == Math::Bf16 ? static_cast<float>(bf16(x))
           : math == Math::Fp16 ? static_cast<float>(f16(x))
                                : x;
  else
    return static_cast<float>(x);
}

/// Returns the sum of a row of op(A) and a column of op(B), whose numbers are as the mode sees them; alpha and beta
/// come after. In the modes that do not split operands it is a chain from zero for each segment of k, and the segments'
/// sums are added in ascending order.
inline float contract_sum(std::span<const float> a, std::span<const float> b, Math math) noexcept {
  if (is_emulated(math)) return emulated_sum(a, b, emulation_of(math));
  const auto length = static_cast<std::size_t>(matrix_unit_segment_length(static_cast<Index>(a.size())));
  float sum = 0;
  for (std::size_t first = 0; first < a.size(); first += length) {
    const std::size_t count = std::min(length, a.size() - first);
    const float segment = dot(a.subspan(first, count), b.subspan(first, count), 0.0f, format_of(math));
    sum = first == 0 ? segment : sum + segment;
  }
  return sum;
}

/// Returns how deep the slices of k are whose products, added in ascending order, have the bits of the whole product.
/// The emulated modes are not cut: whether an element is the strict sum depends on all of its row and column.
/// Int8Units is not cut either: a slice's lines would have other powers of two.
constexpr Index slice_of_mode(Math math, Index k) noexcept {
  return is_emulated(math) || math == Math::Int8Units ? k : matrix_unit_slice(k);
}

} // namespace tessera::detail::hopper

#include <tessera/detail/macros_on.hpp>
