#pragma once

/// The type of a number that is an element, or of a complex number of two elements.

#include <complex>
#include <cstddef>
#include <string_view>

#include <tessera/types.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera::detail {

/// Numbers of a type, or complex numbers of two parts of a type, the real part first.
struct NumberType {
  DType part = DType::F32; ///< of a number, or of the parts
  bool is_complex = false;

  constexpr NumberType() = default;
  constexpr NumberType(DType of, bool complex = false) noexcept : part(of), is_complex(complex) {}
  friend constexpr bool operator==(NumberType, NumberType) = default;

  constexpr std::size_t bytes() const noexcept { return size_of(part) * (is_complex ? 2 : 1); }
  /// Returns the bytes of a sum on its way to an element: sums of 16-bit numbers are f32.
  constexpr std::size_t sum_bytes() const noexcept { return size_of(scalar_of(part)) * (is_complex ? 2 : 1); }
  /// Returns the name in NumPy and other array libraries: "float32", "complex64". It ends in a zero.
  constexpr std::string_view array_name() const noexcept {
    if (!is_complex) return element_type(part).array_name;
    return part == DType::F64 ? "complex128" : "complex64";
  }
  /// Returns NumPy's code in a .npy file, without the byte order.
  constexpr std::string_view npy() const noexcept {
    if (!is_complex) return element_type(part).npy;
    return part == DType::F64 ? "c16" : "c8";
  }
  /// Returns DLPack's code.
  constexpr int dlpack() const noexcept { return is_complex ? 5 : element_type(part).dlpack; }
  /// Returns PyTorch's number (c10::ScalarType).
  constexpr int torch() const noexcept {
    if (!is_complex) return element_type(part).torch;
    return part == DType::F64 ? 10 : 9;
  }
};

/// The NumberType that names the C++ type T.
template <class T>
inline constexpr NumberType number_type_of = dtype_of<T>;
template <class T>
inline constexpr NumberType number_type_of<std::complex<T>> = {dtype_of<T>, true};

/// Are there complex numbers of two such parts?
constexpr bool has_complex(DType part) noexcept { return is_element_type(part) && scalar_of(part) == part; }

} // namespace tessera::detail

#include <tessera/detail/macros_on.hpp>
