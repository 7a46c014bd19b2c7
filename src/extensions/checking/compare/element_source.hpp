#pragma once

/// Reads matrices of any type that a check reads, block by block, as matrices of the type that is computed in.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include <tessera/checking/check.hpp>
#include <tessera/half.hpp>

namespace tessera::compare {

/// A matrix whose element (i, j) as it is read lies at i·row + j·col elements after `data`. One of the steps is 1.
struct ElementSource {
  CheckedType type = CheckedType::F32;
  const void* data = nullptr;
  Index rows = 0, cols = 0;
  Index row = 0, col = 1;

  /// Describes `stored` as it is read.
  static ElementSource of(const CheckedMatrix& stored) {
    const bool flipped = stored.op != Op::None;
    return {stored.type,
            stored.data,
            stored.logical_rows(),
            stored.logical_cols(),
            flipped ? 1 : stored.ld,
            flipped ? stored.ld : 1};
  }
};

/// Returns the value of an OCP FP8 number with this many bits of exponent (OCP 8-bit Floating Point Specification 1.0).
constexpr float widen_fp8(std::uint8_t bits, int exponent_bits) {
  const int digits = 7 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = bits >> digits & ((1 << exponent_bits) - 1), fraction = bits & ((1 << digits) - 1);
  const float sign = (bits & 0x80) != 0 ? -1.0f : 1.0f;
  const bool top = exponent == (1 << exponent_bits) - 1;
  if (top && (exponent_bits == 5 || fraction == 7)) { // e4m3 has no Inf; the sign of NaN is dropped
    const bool infinite = exponent_bits == 5 && fraction == 0;
    return infinite ? sign * std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
  }
  float value = static_cast<float>(exponent == 0 ? fraction : fraction + (1 << digits));
  for (int power = std::max(exponent, 1) - bias - digits; power != 0; power += power < 0 ? 1 : -1)
    value *= power < 0 ? 0.5f : 2.0f;
  return sign * value;
}

template <int exponent_bits>
inline constexpr std::array<float, 256> fp8_values = [] {
  std::array<float, 256> values{};
  for (std::size_t bits = 0; bits < values.size(); ++bits)
    values[bits] = widen_fp8(static_cast<std::uint8_t>(bits), exponent_bits);
  return values;
}();

/// Calls f(read), where read(index) returns element number `index` of the source's memory as T. All widenings are
/// exact, unless T is float and the type f64 or i32, which callers do not ask for.
template <class T, class F>
[[gnu::always_inline]] inline void visit_elements(const ElementSource& x, F&& f) {
  const auto native = [&]<class S>(std::type_identity<S>) {
    f([data = static_cast<const S*>(x.data)](Index at) { return static_cast<T>(data[at]); });
  };
  const auto fp8 = [&](const std::array<float, 256>& values) {
    f([data = static_cast<const std::uint8_t*>(x.data), &values](Index at) {
      return static_cast<T>(values[data[at]]);
    });
  };
  switch (x.type) {
    case CheckedType::F32:
      return native(std::type_identity<float>{});
    case CheckedType::F64:
      return native(std::type_identity<double>{});
    case CheckedType::F16:
      return native(std::type_identity<f16>{});
    case CheckedType::BF16:
      return native(std::type_identity<bf16>{});
    case CheckedType::E4M3:
      return fp8(fp8_values<4>);
    case CheckedType::E5M2:
      return fp8(fp8_values<5>);
    case CheckedType::I8:
      return native(std::type_identity<std::int8_t>{});
    case CheckedType::I32:
      return native(std::type_identity<std::int32_t>{});
  }
}

/// Returns element (i, j).
template <class T>
T element_at(const ElementSource& x, Index i, Index j) {
  T value{};
  visit_elements<T>(x, [&](auto read) { value = read(i * x.row + j * x.col); });
  return value;
}

/// Are the rows of the source rows of T in memory?
template <class T>
bool is_native(const ElementSource& x) {
  return x.col == 1 && x.type == static_cast<CheckedType>(dtype_of<T>);
}

/// Rows of a block, in the source's memory or in a buffer.
template <class T>
struct Block {
  const T* data;
  Index ld;
};

/// Returns rows i … i + rows − 1 and columns j … j + cols − 1 as T. `buffer` has room for rows·cols elements and is
/// used where the source's memory cannot be read as it is.
template <class T>
Block<T> read_block(const ElementSource& x, Index i, Index rows, Index j, Index cols, T* buffer) {
  if (is_native<T>(x)) return {static_cast<const T*>(x.data) + i * x.row + j, x.row};
  visit_elements<T>(x, [&](auto read) {
    if (x.col == 1) {
      for (Index r = 0; r < rows; ++r)
        for (Index c = 0; c < cols; ++c) buffer[r * cols + c] = read((i + r) * x.row + j + c);
    } else { // stored columns are read one after the other
      for (Index c = 0; c < cols; ++c)
        for (Index r = 0; r < rows; ++r) buffer[r * cols + c] = read((i + r) * x.row + (j + c) * x.col);
    }
  });
  return {buffer, cols};
}

} // namespace tessera::compare
