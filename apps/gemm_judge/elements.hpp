#pragma once

/// The types of a judged product's elements. Beside the element types of matrices there is one more: in a judged
/// product DType::I32 names int8_t operands whose product is int32_t, which no kernel of a ladder computes.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <tessera/half.hpp>
#include <tessera/types.hpp>

namespace tessera::judge {

/// int8_t operands, of which C holds the exact sums as int32_t.
inline constexpr DType int8_product = DType::I32;
/// The largest k of an int8 product: no sum leaves the half of int32_t's range.
inline constexpr Index largest_int8_k = Index{1} << 16;

/// The word for the type of the operands on the command line and in reports.
inline constexpr std::string_view int8_word = "i8";
/// The word of array libraries for the type of the operands.
inline constexpr std::string_view int8_array_name = "int8";

/// Returns the bytes of one element of A or B; size_of() returns the bytes of an element of C.
constexpr std::size_t operand_size_of(DType type) noexcept { return type == int8_product ? 1 : size_of(type); }

/// Calls f(std::type_identity<T>{}, std::type_identity<R>{}), where A and B have elements of T, and C of R.
template <class F>
decltype(auto) with_types(DType type, F&& f) {
  if (type == int8_product) return f(std::type_identity<std::int8_t>{}, std::type_identity<std::int32_t>{});
  return visit(type, [&]<class T>(std::type_identity<T> t) { return f(t, t); });
}

} // namespace tessera::judge
