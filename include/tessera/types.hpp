#pragma once

/// The words that every part of Tessera shares: sizes, element types, math modes, backends.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <tessera/detail/export.hpp>

namespace tessera {

/// Sizes and leading dimensions count elements and are signed, so that a negative one can be reported.
using Index = std::int64_t;

/// Element types. Values are part of the plug-in ABI: add at the end.
enum class DType : int { F32 = 0, F64 = 1, F16 = 2, BF16 = 3 };

/// How a product may round. Only Strict is ever chosen unasked; see docs of each mode in gemm.hpp.
/// A row of another mode may round less than it allows where that takes no longer.
/// Of 16-bit operands there are Strict, and Bf16 of bf16 and Fp16 of f16, which have nothing to round there.
enum class Math : int {
  Strict = 0,         ///< canonical summation: the same bits on every backend
  Tf32 = 1,           ///< inputs rounded to tf32, f32 accumulation
  Bf16 = 2,           ///< inputs rounded to bf16, f32 accumulation
  Fp16 = 3,           ///< inputs rounded to fp16, f32 accumulation
  EmulatedFp16x3 = 4, ///< operands split into two fp16 parts, three products
  EmulatedBf16x6 = 5, ///< operands split into three bf16 parts, six products
  Compensated = 6,    ///< Kahan's compensated summation
};

/// op(X) of the BLAS: the operand as it is stored, its transpose, or the conjugate of that, which complex.hpp alone
/// takes.
enum class Op : int { None = 0, Transpose = 1, ConjugateTranspose = 2 };

/// Which executor runs a call. Auto may choose and fall back; a named one works or the call throws.
enum class Backend : int { Auto = 0, Reference = 1, OpenMP = 2, Tbb = 3, Cuda = 4 };

template <class T>
struct DTypeOf;
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::F32;
};
template <>
struct DTypeOf<double> {
  static constexpr DType value = DType::F64;
};
struct f16;
struct bf16;
template <>
struct DTypeOf<f16> {
  static constexpr DType value = DType::F16;
};
template <>
struct DTypeOf<bf16> {
  static constexpr DType value = DType::BF16;
};
template <class T>
inline constexpr DType dtype_of = DTypeOf<T>::value;

constexpr bool is_16_bit(DType type) noexcept { return type == DType::F16 || type == DType::BF16; }

/// Bytes of one element.
constexpr std::size_t size_of(DType type) noexcept { return type == DType::F64 ? 8 : is_16_bit(type) ? 2 : 4; }

/// The type in which elements are computed with and single numbers (alpha, beta, a value to fill with) are given.
template <class T>
using Scalar = std::conditional_t<is_16_bit(DTypeOf<T>::value), float, T>;
constexpr DType scalar_of(DType type) noexcept { return is_16_bit(type) ? DType::F32 : type; }

/// May products of matrices of T have elements of R? 16-bit operands also give f32, and f32 gives 16 bits.
constexpr bool is_result_of(DType result, DType type) noexcept {
  return result == type || (is_16_bit(type) && result == DType::F32) || (type == DType::F32 && is_16_bit(result));
}
template <class R, class T>
concept ResultOf = is_result_of(DTypeOf<R>::value, DTypeOf<T>::value);

/// The words used on the command line, in environment variables and in JSON.
TESSERA_API std::string_view to_string(DType type) noexcept;
TESSERA_API std::string_view to_string(Math math) noexcept;
TESSERA_API std::string_view to_string(Op op) noexcept;
TESSERA_API std::string_view to_string(Backend backend) noexcept;

/// Inverse of to_string. Throws InvalidArgument that names the nearest valid word.
TESSERA_API DType parse_dtype(std::string_view word);
TESSERA_API Math parse_math(std::string_view word);
TESSERA_API Backend parse_backend(std::string_view word);

/// The candidate with the smallest edit distance to `word`; empty without candidates.
TESSERA_API std::string nearest_word(std::string_view word, const std::vector<std::string>& candidates);

} // namespace tessera
