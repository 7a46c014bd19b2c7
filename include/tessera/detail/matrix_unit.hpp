#pragma once

/// A model of the matrix units of Hopper GPUs (compute capability 9.0), which mma.sync and wgmma both use, for
/// operands of f16, bf16 and tf32 and sums in f32. It gives their bits on any machine.
///
/// An instruction adds the products of 32 bytes of k at once: 16 products of 16-bit operands, or 8 of tf32 (a longer k
/// is a chain of such steps). Each product is exact. Products and the sum so far are aligned to the largest exponent
/// among them and cut to 25 bits after the point; the exponents of two factors are added, and make the exponent of
/// their product. The aligned numbers are added exactly, and the sum is cut to f32. Subnormal numbers are kept. Inf and
/// NaN go through as in IEEE arithmetic.
///
/// Sources: P. Xie, Y. Wang, F. Yang, M. Yang, "MMA-Sim: Bit-Accurate Reference Model of Tensor Cores and Matrix Cores"
/// (2025), and F. A. Khattak, M. Mikaitis, "Accurate Models of NVIDIA Tensor Cores" (2025).
/// tests/backends/cuda/matrix_units.cpp compares the model with a GPU.

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

#include <tessera/detail/macros_off.hpp>

namespace tessera::detail::hopper {

/// The format of the operands, whose numbers are all numbers of f32.
struct OperandFormat {
  int step;              ///< products that one instruction adds at once
  int smallest_exponent; ///< of a normal number; subnormal numbers have it too
};
inline constexpr OperandFormat f16_operands{16, -14}, bf16_operands{16, -126}, tf32_operands{8, -126};

/// Returns what the matrix units see of an f32 that is to be a tf32: the last 13 bits are cut.
inline float cut_to_tf32(float x) noexcept {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) & ~std::uint32_t{0x1fff});
}

/// A finite number: significand · 2^(exponent − 23), where |significand| < 2²⁴.
struct Unpacked {
  std::int64_t significand;
  int exponent;

  Unpacked(float x, int smallest_exponent) noexcept {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    const int biased = static_cast<int>(bits >> 23 & 0xff);
    const std::int64_t fraction = bits & 0x7fffff;
    exponent = std::max(biased - 127, -126);
    significand = biased == 0 ? fraction : fraction | 0x800000;
    if (exponent < smallest_exponent) { // a subnormal number of the operands' format
      significand >>= std::min(smallest_exponent - exponent, 62);
      exponent = smallest_exponent;
    }
    if (std::signbit(x)) significand = -significand;
  }
};

/// Returns significand · 2^shift, cut.
inline std::int64_t shifted(std::int64_t significand, int shift) noexcept {
  const std::int64_t size = significand < 0 ? -significand : significand;
  const std::int64_t cut = shift >= 0 ? size << shift : shift > -63 ? size >> -shift : 0;
  return significand < 0 ? -cut : cut;
}

/// Returns sum · 2^exponent as an f32, cut. From 2¹²⁸ on it is Inf.
inline float cut_to_f32(std::int64_t sum, int exponent) noexcept {
  const auto size = static_cast<std::uint64_t>(sum < 0 ? -sum : sum);
  if (size == 0) return 0.0f;
  const int first_bit = exponent + static_cast<int>(std::bit_width(size)) - 1;
  const int last_bit = std::max(first_bit - 23, -149);
  const std::int64_t kept = shifted(static_cast<std::int64_t>(size), exponent - last_bit);
  const float result =
      first_bit > 127 ? std::numeric_limits<float>::infinity() : std::ldexp(static_cast<float>(kept), last_bit);
  return sum < 0 ? -result : result;
}

/// Returns the sum of c and of at most `format.step` products, as one step of an instruction computes it.
inline float multiply_add(std::span<const float> a, std::span<const float> b, float c,
                          const OperandFormat& format) noexcept {
  constexpr int kept_bits = 25, product_bits = 46, c_bits = 23;
  struct ExactProduct {
    std::int64_t significand; ///< the product is significand · 2^(exponent − product_bits)
    int exponent;
  };
  std::array<ExactProduct, 16> products; // the most that an instruction adds
  std::size_t count = 0;
  double special = std::isfinite(c) ? 0 : c; // the sum of what is Inf or NaN
  const Unpacked sum_so_far(std::isfinite(c) ? c : 0.0f, -126);
  int largest = sum_so_far.significand == 0 ? -126 : sum_so_far.exponent;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!std::isfinite(a[i]) || !std::isfinite(b[i])) {
      special += static_cast<double>(a[i]) * b[i];
      continue;
    }
    if (a[i] == 0 || b[i] == 0) continue;
    const Unpacked x(a[i], format.smallest_exponent), y(b[i], format.smallest_exponent);
    products[count] = {x.significand * y.significand, x.exponent + y.exponent};
    largest = std::max(largest, products[count++].exponent);
  }
  if (special != 0) // NaN is unlike 0, too
    return static_cast<float>(special);
  std::int64_t sum = shifted(sum_so_far.significand, kept_bits - c_bits - (largest - sum_so_far.exponent));
  for (std::size_t i = 0; i < count; ++i)
    sum += shifted(products[i].significand, kept_bits - product_bits - (largest - products[i].exponent));
  return cut_to_f32(sum, largest - kept_bits);
}

/// Returns the chain of steps over all of k, which begins with c.
inline float dot(std::span<const float> a, std::span<const float> b, float c, const OperandFormat& format) noexcept {
  const auto step = static_cast<std::size_t>(format.step);
  for (std::size_t first = 0; first < a.size(); first += step) {
    const std::size_t count = std::min(step, a.size() - first);
    c = multiply_add(a.subspan(first, count), b.subspan(first, count), c, format);
  }
  return c;
}

} // namespace tessera::detail::hopper

#include <tessera/detail/macros_on.hpp>
