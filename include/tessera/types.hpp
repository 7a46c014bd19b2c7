#pragma once

/// The words that every part of Tessera shares: sizes, element types, math modes, backends.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include <tessera/detail/element_types.h>
#include <tessera/detail/export.hpp>

#include <tessera/detail/macros_off.hpp>

/// Marks a lambda that visit() calls. The compiler inlines it, so its loops use the instruction set of the function
/// around it.
#define TESSERA_ALWAYS_INLINE __attribute__((always_inline))

namespace tessera {

/// Sizes and leading dimensions count elements and are signed, so that a negative one can be reported.
using Index = std::int64_t;

/// Element types. The values are part of the plug-in ABI. The enumerators are made of the list of
/// detail/element_types.h. Matrices hold the types for which is_element_type() is true; the others are types of
/// operands that a certificate or the judge of kernels reads, and of whole numbers that sum_of_squares() takes.
enum class DType : int { TESSERA_ELEMENT_TYPES(TESSERA_AS_ENUMERATOR) };

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
  ScaledFp16 = 8,     ///< inputs scaled by powers of two for each 128 k and rounded to fp16, one product
  Int8Units = 9,      ///< f64 as whole numbers modulo 15 numbers of 8 bits; errors within strict's bound, other bits
};
inline constexpr Math last_math = Math::Int8Units; ///< The last value of Math. The values are 0, 1, … without gaps.

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
  OpenCl = 5,    ///< a device that OpenCL shows: a GPU of any vendor, or a processor
};

/// The facts about an element type.
struct ElementType {
  DType type;                  ///< the value that names it
  std::string_view name;       ///< on the command line, in environment variables and in JSON
  std::string_view array_name; ///< in NumPy and other array libraries
  std::string_view npy;        ///< type code of a .npy file without the byte order; empty: NumPy saves bytes
  std::size_t bytes;           ///< bytes of one element
  DType scalar;                ///< in which elements are computed with; see Scalar
  int digits;                  ///< of the significand in binary, with the leading one
  int largest_exponent;        ///< as a power of two, of a finite number
  Math lossless_math;          ///< the reduced mode that leaves such operands as they are; Strict if there is none
  DType result;                ///< of a kernel from outside; another type where products are exact in it
  int kernel;                  ///< the number in kernel_abi.h; TESSERA_NO_KERNEL where it has none
  std::string_view buffer;     ///< the format in Python's buffer protocol; empty where no buffer has such elements
  int dlpack;                  ///< DLPack's code
  int torch;                   ///< PyTorch's number
  std::string_view what;       ///< what it is, for people
};

namespace detail {
template <class T>
struct ElementEntry {
  ElementType facts;
};
struct FirstEntry {};
/// Facts in the order of the list; Ts are the C++ types.
template <class... Ts>
struct ElementTypes {
  ElementType facts[sizeof...(Ts)];

  constexpr const ElementType* begin() const noexcept { return facts; }
  constexpr const ElementType* end() const noexcept { return facts + sizeof...(Ts); }
  static constexpr std::size_t size() noexcept { return sizeof...(Ts); }

  /// Of<float, double, …>
  template <template <class...> class Of>
  using Apply = Of<Ts...>;
  /// Returns the place of T in the list; size() if it is not there.
  template <class T>
  static constexpr std::size_t place_of() noexcept {
    std::size_t place = 0;
    (void)((std::is_same_v<T, Ts> || (++place, false)) || ...);
    return place;
  }
  /// Returns the place of a type in the list; size() if it is not there.
  constexpr std::size_t place_of(DType type) const noexcept {
    const auto value = static_cast<std::size_t>(type);
    if (value < size() && facts[value].type == type) return value; // most types stand at their values
    std::size_t place = 0;
    while (place < size() && facts[place].type != type) ++place;
    return place;
  }
  template <std::size_t place>
  using At = std::tuple_element_t<place, std::tuple<Ts...>>;
};
template <class... Ts>
constexpr ElementTypes<Ts...> list_of(FirstEntry, const ElementEntry<Ts>&... entries) noexcept {
  return {{entries.facts...}};
}
} // namespace detail

/// The facts about all types, in the order of detail/element_types.h, which is the one list of them.
inline constexpr auto known_types = detail::list_of(detail::FirstEntry {} TESSERA_ELEMENT_TYPES(TESSERA_AS_ENTRY));
/// The facts about the element types of matrices. All that goes over element types reads it or uses visit().
inline constexpr auto element_types = detail::list_of(detail::FirstEntry {} TESSERA_MATRIX_TYPES(TESSERA_AS_ENTRY));

static_assert(
    [] {
      for (const ElementType& one : known_types)
        for (const ElementType& other : known_types)
          if (&one != &other &&
              (one.type == other.type || one.name == other.name || one.array_name == other.array_name ||
               (one.kernel == other.kernel && one.kernel != TESSERA_NO_KERNEL)))
            return false;
      return true;
    }(),
    "two entries of detail/element_types.h have one number or one name");

/// The facts about the whole numbers that reductions take. They are no element type, so that a product, an element-wise
/// operation or a file of them is refused.
inline constexpr ElementType whole_number_type = known_types.facts[known_types.place_of(DType::I32)];

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

/// Does `type` name an element type of matrices? C's enumerations and other languages hold any integer.
constexpr bool is_element_type(DType type) noexcept { return element_types.place_of(type) < element_types.size(); }
/// Does `type` name a type at all?
constexpr bool is_known_type(DType type) noexcept { return known_types.place_of(type) < known_types.size(); }
/// Returns the facts about `type`, of matrices or not, or about f32 where it names no type.
constexpr const ElementType& element_type(DType type) noexcept {
  const std::size_t place = known_types.place_of(type);
  return known_types.facts[place < known_types.size() ? place : 0];
}

/// Returns the bytes of one element.
constexpr std::size_t size_of(DType type) noexcept { return element_type(type).bytes; }
/// Does an element of this type have 16 bits?
constexpr bool is_16_bit(DType type) noexcept { return size_of(type) == 2; }

/// Does `type` name whole numbers?
constexpr bool is_whole_number(DType type) noexcept {
  return is_known_type(type) && element_type(type).scalar == type && !is_element_type(type);
}

/// The type in which elements are computed with and single numbers (alpha, beta, a value to fill with) are given.
constexpr DType scalar_of(DType type) noexcept { return element_type(type).scalar; }
/// The C++ type in which elements of T are computed with: float for 16-bit types, else T itself.
template <class T>
using Scalar = typename decltype(element_types)::template At<element_types.place_of(scalar_of(DTypeOf<T>::value))>;

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
    constexpr std::size_t place = known_types.template place_of<T>();
    constexpr DType its = known_types.facts[place].type;
    if constexpr (!scalars_only || known_types.facts[place].scalar == its)
      if (type == its) return f(std::type_identity<T>{});
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
/// Does what visit() does for all types, of matrices or not.
template <class F>
[[gnu::always_inline]] constexpr decltype(auto) visit_known(DType type, F&& f) {
  return decltype(known_types)::template Apply<detail::AnyVisitor>::visit(type, f);
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

/// Returns the element type of matrices that to_string() gives this word. An unknown word throws InvalidArgument, which
/// names the nearest known one; the word of a type that matrices do not have throws it too, and says so.
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
