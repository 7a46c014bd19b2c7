#pragma once

/// The words that every part of Tessera shares: sizes, element types, math modes, backends.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include <tessera/detail/export.hpp>

#include <tessera/detail/macros_off.hpp>

/// Marks a lambda that visit() calls. The compiler inlines it, so its loops use the instruction set of the function
/// around it.
#define TESSERA_ALWAYS_INLINE __attribute__((always_inline))

namespace tessera {

/// Sizes and leading dimensions count elements and are signed, so that a negative one can be reported.
using Index = std::int64_t;

/// Element types. The values are part of the plug-in ABI: new ones are added at the end.
enum class DType : int {
  F32 = 0,  ///< float
  F64 = 1,  ///< double
  F16 = 2,  ///< IEEE binary16; f16 of half.hpp
  BF16 = 3, ///< bfloat16; bf16 of half.hpp
  I32 = 64, ///< std::int32_t. No element type of matrices: sum_of_squares() of matrix.hpp alone takes it.
};

/// Describes how a product may round. The library never chooses another mode than Strict by itself; see
/// docs/contract.md. A kernel may round less than its mode allows where that takes no longer. 16-bit operands have the
/// modes Strict, and Bf16 (of bf16) or Fp16 (of f16), which round nothing there.
enum class Math : int {
  Strict = 0,         ///< bitwise reproducible: the same bits on every backend
  Tf32 = 1,           ///< inputs rounded to tf32, f32 accumulation
  Bf16 = 2,           ///< inputs rounded to bf16, f32 accumulation
  Fp16 = 3,           ///< inputs rounded to fp16, f32 accumulation
  EmulatedFp16x3 = 4, ///< operands split into two fp16 parts, three products
  EmulatedBf16x6 = 5, ///< operands split into three bf16 parts, six products
  Compensated = 6,    ///< Kahan's compensated summation
  Strassen = 7,       ///< Strassen's recursion: errors relative to the largest elements; see kernel.hpp
};
inline constexpr Math last_math = Math::Strassen; ///< The last value of Math. The values are 0, 1, … without gaps.

/// op(X) of the BLAS: the operand as it is stored, its transpose, or its conjugate transpose. Only the functions of
/// complex.hpp take the last one.
enum class Op : int {
  None = 0,               ///< the operand as it is stored
  Transpose = 1,          ///< its transpose
  ConjugateTranspose = 2, ///< its conjugate transpose; of complex operands only
  NoTranspose = None,     ///< another name of None, for programs that have X11's macro None
};

/// Says which executor runs a call. Auto may choose and fall back, unless TESSERA_BACKEND names what it stands for
/// (backend.hpp); a named backend works or the call throws. The facts about each backend stand in backend_list.hpp.
/// Plug-ins of other authors have larger values, which parse_backend() gives them.
enum class Backend : int {
  Auto = 0,      ///< the best available backend for the call
  Reference = 1, ///< serial loops in libtessera itself
  OpenMP = 2,    ///< the processor, with OpenMP's threads
  Tbb = 3,       ///< the processor, with oneTBB's threads
  Cuda = 4,      ///< an NVIDIA GPU
};

struct f16;
struct bf16;

/// The facts about an element type.
struct ElementType {
  DType type;                  ///< the value that names it
  std::string_view name;       ///< on the command line, in environment variables and in JSON
  std::string_view array_name; ///< in NumPy and other array libraries
  std::string_view npy;        ///< type code of a .npy file without the byte order
  std::size_t bytes;           ///< bytes of one element
  DType scalar;                ///< in which elements are computed with; see Scalar
  int digits;                  ///< of the significand in binary, with the leading one
  int largest_exponent;        ///< as a power of two, of a finite number
  Math lossless_math;          ///< the reduced mode that leaves such operands as they are; Strict if there is none
};

namespace detail {
template <class T>
struct ElementRow {
  ElementType facts;
};
/// The facts in the order of DType; Ts are the C++ types.
template <class... Ts>
struct ElementTypes {
  ElementType facts[sizeof...(Ts)];

  constexpr const ElementType* begin() const noexcept { return facts; }
  constexpr const ElementType* end() const noexcept { return facts + sizeof...(Ts); }
  static constexpr std::size_t size() noexcept { return sizeof...(Ts); }

  /// Of<float, double, …>
  template <template <class...> class Of>
  using Apply = Of<Ts...>;
  /// Returns the place of T in the list; size() if it is no element type.
  template <class T>
  static constexpr std::size_t place_of() noexcept {
    std::size_t place = 0;
    (void)((std::is_same_v<T, Ts> || (++place, false)) || ...);
    return place;
  }
  template <std::size_t place>
  using At = std::tuple_element_t<place, std::tuple<Ts...>>;
};
template <class... Ts>
constexpr ElementTypes<Ts...> list_of(const ElementRow<Ts>&... rows) noexcept {
  return {{rows.facts...}};
}
} // namespace detail

/// The one list of element types of matrices. All that goes over element types reads it or uses visit(). A new type is
/// a value of DType, a line here, and its own C++ type; kernels for it are in the ladders.
inline constexpr auto element_types = detail::list_of(
    detail::ElementRow<float>{{DType::F32, "f32", "float32", "f4", 4, DType::F32, 24, 127, Math::Strict}},
    detail::ElementRow<double>{{DType::F64, "f64", "float64", "f8", 8, DType::F64, 53, 1023, Math::Strict}},
    detail::ElementRow<f16>{{DType::F16, "f16", "float16", "f2", 2, DType::F32, 11, 15, Math::Fp16}},
    detail::ElementRow<bf16>{{DType::BF16, "bf16", "bfloat16", "V2", 2, DType::F32, 8, 127, Math::Bf16}});

static_assert([] {
  for (std::size_t place = 0; place < element_types.size(); ++place)
    if (static_cast<std::size_t>(element_types.facts[place].type) != place) return false;
  return true;
}());

/// The facts about the whole numbers that reductions take. They are no element type, so that a product, an element-wise
/// operation or a file of them is refused.
inline constexpr ElementType whole_number_type{DType::I32, "i32", "int32", "i4", 4, DType::I32, 31, 30, Math::Strict};

/// Is T the C++ type of an element type?
template <class T>
concept ElementNumber = (element_types.template place_of<T>() < element_types.size());

/// The DType of a C++ type, as DTypeOf<T>::value; dtype_of<T> is its short form.
template <ElementNumber T>
struct DTypeOf {
  /// The value of DType that names T.
  static constexpr DType value = element_types.facts[element_types.template place_of<T>()].type;
};
template <class T>
inline constexpr DType dtype_of = DTypeOf<T>::value; ///< The value of DType that names the C++ type T.

/// Does `type` name an element type? C's enumerations and other languages hold any integer.
constexpr bool is_element_type(DType type) noexcept {
  return static_cast<int>(type) >= 0 && static_cast<std::size_t>(type) < element_types.size();
}
/// Returns the facts about `type`, which may be I32, or about f32 where it names no type.
constexpr const ElementType& element_type(DType type) noexcept {
  if (type == whole_number_type.type) return whole_number_type;
  return element_types.facts[is_element_type(type) ? static_cast<std::size_t>(type) : 0];
}

/// Returns the bytes of one element.
constexpr std::size_t size_of(DType type) noexcept { return element_type(type).bytes; }
/// Does an element of this type have 16 bits?
constexpr bool is_16_bit(DType type) noexcept { return size_of(type) == 2; }

/// The type in which elements are computed with and single numbers (alpha, beta, a value to fill with) are given.
constexpr DType scalar_of(DType type) noexcept { return element_type(type).scalar; }
/// The C++ type in which elements of T are computed with: float for 16-bit types, else T itself.
template <class T>
using Scalar = typename decltype(element_types)::template At<static_cast<std::size_t>(scalar_of(DTypeOf<T>::value))>;

namespace detail {
/// Calls f for the type among Ts whose value is `type`, and for First where none is. With scalars_only, f is compiled
/// for types alone that elements are computed with in.
template <bool scalars_only, class First, class... Ts>
struct Visitor {
  template <class F>
  [[gnu::always_inline]] static constexpr decltype(auto) visit(DType, F& f) {
    return f(std::type_identity<First>{});
  }
};
template <bool scalars_only, class First, class T, class... Ts>
struct Visitor<scalars_only, First, T, Ts...> {
  template <class F>
  [[gnu::always_inline]] static constexpr decltype(auto) visit(DType type, F& f) {
    if constexpr (!scalars_only || std::is_same_v<Scalar<T>, T>)
      if (type == dtype_of<T>) return f(std::type_identity<T>{});
    return Visitor<scalars_only, First, Ts...>::visit(type, f);
  }
};
template <class... Ts>
using AnyVisitor = Visitor<false, Ts...>;
template <class... Ts>
using ScalarVisitor = Visitor<true, Ts...>;
} // namespace detail

/// Calls f(std::type_identity<T>{}) and returns its result, where T is the C++ type of `type`; float where it names no
/// element type. It is inlined, so that a caller compiled for FMA may have f's loops compiled for FMA too.
template <class F>
[[gnu::always_inline]] constexpr decltype(auto) visit(DType type, F&& f) {
  return decltype(element_types)::template Apply<detail::AnyVisitor>::visit(type, f);
}
/// Does what visit() does with the type in which elements of `type` are computed with: float or double.
template <class F>
[[gnu::always_inline]] constexpr decltype(auto) visit_scalar(DType type, F&& f) {
  return decltype(element_types)::template Apply<detail::ScalarVisitor>::visit(scalar_of(type), f);
}

/// May products of matrices of T have elements of R? 16-bit operands also give f32, and f32 gives 16 bits.
constexpr bool is_result_of(DType result, DType type) noexcept {
  return result == type || (is_16_bit(type) && result == DType::F32) || (type == DType::F32 && is_16_bit(result));
}
/// A type that products of matrices of T may have as their elements; is_result_of() lists them.
template <class R, class T>
concept ResultOf = is_result_of(DTypeOf<R>::value, DTypeOf<T>::value);

/// Returns the word for an element type on the command line, in environment variables and in JSON, such as "f32".
TESSERA_API std::string_view to_string(DType type) noexcept;
/// Returns the word for a math mode on the command line, in environment variables and in JSON, such as "strict".
TESSERA_API std::string_view to_string(Math math) noexcept;
/// Returns the word for an operation on an operand.
TESSERA_API std::string_view to_string(Op op) noexcept;
/// Returns the word for a backend on the command line, in environment variables and in JSON, such as "openmp".
TESSERA_API std::string_view to_string(Backend backend) noexcept;

/// Returns the element type that to_string() gives this word. An unknown word throws InvalidArgument, which names the
/// nearest known one.
TESSERA_API DType parse_dtype(std::string_view word);
/// Returns the math mode that to_string() gives this word. An unknown word throws InvalidArgument, which names the
/// nearest known one.
TESSERA_API Math parse_math(std::string_view word);
/// Returns the backend that to_string() gives this word; else the function looks for a plug-in of this name, see
/// backend.hpp. A word without a backend throws InvalidArgument, which names the nearest known one and says why no
/// plug-in was found.
TESSERA_API Backend parse_backend(std::string_view word);

/// Returns the candidate with the smallest edit distance to `word`; an empty string if there are no candidates.
TESSERA_API std::string nearest_word(std::string_view word, const std::vector<std::string>& candidates);

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
