#pragma once

/// Residues modulo the 15 moduli of tessera/detail/int8_units.hpp: how a kernel reduces whole numbers to 8 bits, and
/// the constants of the Chinese remainder theorem.
///
/// A whole number is read as unsigned bytes b_i, whose weighted sum Σ b_i·w_i, w_i ≡ 256^i, is one or two instructions
/// (dp4a) and small. The sum starts at the bits of the float 1.5·2²³, so that these bits are a float without a
/// conversion, and one FMA more gives the nearest quotient in the same way. The remainder's low byte is all that is
/// needed. Source of such additions: the rounding constant of Dekker and Knuth's time, as in Hacker's Delight.

#include <cstdint>

#include <tessera/detail/int8_units.hpp>

namespace tessera::cuda::int8_units {

namespace int8 = detail::int8;

constexpr int residues = 15;          ///< residues of a whole number
constexpr int planes = residues + 1;  ///< of 8-bit operands: the residues, then the sizes
constexpr int sizes_plane = residues; ///< the number of the last one

/// The moduli for device code, where std::array is not read.
__host__ __device__ constexpr int modulus_of(int plane) {
  constexpr int all[]{256, 255, 253, 251, 247, 241, 239, 233, 229, 227, 223, 217, 211, 199, 197};
  return all[plane];
}

constexpr bool moduli_are_the_contracts() {
  for (int l = 0; l < residues; ++l)
    if (modulus_of(l) != int8::moduli[static_cast<std::size_t>(l)]) return false;
  return int8::moduli.size() == residues;
}
static_assert(moduli_are_the_contracts());

__host__ __device__ constexpr int power_modulo(int base, int exponent, int m) {
  int result = 1 % m;
  for (int i = 0; i < exponent; ++i) result = result * (base % m) % m;
  return result;
}

/// Returns the product of all moduli but those from `first` to `last` − 1.
__host__ __device__ constexpr int8::UnsignedWide product_without(int first, int last) {
  int8::UnsignedWide product = 1;
  for (int l = 0; l < residues; ++l)
    if (l < first || l >= last) product *= static_cast<unsigned>(modulus_of(l));
  return product;
}

/// Returns the number whose product with M / m is 1 modulo m, where m is the plane's modulus and M the product of all.
__host__ __device__ constexpr int inverse_of_others(int plane) {
  const int m = modulus_of(plane);
  const int others = static_cast<int>(product_without(plane, plane + 1) % static_cast<unsigned>(m));
  int inverse = 1;
  while (others * inverse % m != 1) ++inverse;
  return inverse;
}

/// How a number of up to 8 bytes is reduced to a residue.
struct Reduction {
  unsigned weights[2]; ///< of the bytes, each a signed byte
  int base;            ///< where the weighted sum starts
  float inverse;       ///< 1 / modulus
  float shift;         ///< so that sum · inverse + shift is 1.5·2²³ + the quotient
  int modulus;
};

constexpr int float_bits = 0x4B400000;  ///< of the float 1.5·2²³, whose unit is 1
constexpr int float_value = 12'582'912; ///< 1.5·2²³

/// Returns the reduction of number − 2^offset_bits, times `factor`, for numbers that are not negative.
__host__ __device__ constexpr Reduction reduction(int plane, int factor, int offset_bits) {
  const int m = modulus_of(plane);
  Reduction r{};
  for (int i = 0; i < 8; ++i) {
    const int weight = power_modulo(256, i, m) * factor % m;
    r.weights[i / 4] |= static_cast<unsigned>((weight > 127 ? weight - m : weight) & 255) << i % 4 * 8;
  }
  // The start is a multiple of the modulus, and of 256, so that it changes neither the quotient's fraction nor the
  // remainder's low byte.
  int start = 0;
  while ((float_value + start) % m != 0) start += 256;
  r.base = float_bits + start - power_modulo(2, offset_bits, m) * factor % m;
  r.inverse = 1.0f / static_cast<float>(m);
  r.shift = static_cast<float>(float_value - (float_value + start) / m);
  r.modulus = m;
  return r;
}

/// Bits of the numbers that make whole numbers and sums of products nonnegative.
constexpr int offset_of_numbers = 55, offset_of_sums = 31;

/// The reduction of a sum of products of residues: the residue times the inverse of the other moduli, so that the
/// results' weights are M / m.
__host__ __device__ constexpr Reduction reduction_of_sums(int plane) {
  return reduction(plane, inverse_of_others(plane), offset_of_sums);
}

/// Says whether remainders fit a signed byte, although the reciprocal is rounded: it moves the quotients' limits by the
/// whole float's share of the error.
__host__ __device__ constexpr bool remainders_fit(int plane, int factor, int offset_bits) {
  const int m = modulus_of(plane);
  if (m == 256) return true; // every low byte is right
  const Reduction r = reduction(plane, factor, offset_bits);
  constexpr double most = 8 * 255 * 128; // of the weighted sum
  const double start = r.base - float_bits + power_modulo(2, offset_bits, m) * factor % m;
  const double moved = (float_value + start + most) * (static_cast<double>(r.inverse) * m - 1);
  return m / 2.0 + moved < 129 && m / 2.0 - moved < 128;
}
constexpr bool all_remainders_fit() {
  for (int l = 0; l < residues; ++l)
    if (!remainders_fit(l, 1, offset_of_numbers) || !remainders_fit(l, inverse_of_others(l), offset_of_sums))
      return false;
  return true;
}
static_assert(all_remainders_fit());

/// Residues are put together in groups of three.
constexpr int group = 3, groups = residues / group;

/// A number in three or four digits d_i, with Σ d_i·2^32i: each is a signed 32-bit number.
struct Digits {
  int at[4];
};
__host__ __device__ constexpr Digits digits_of(int8::UnsignedWide x) {
  Digits digits{};
  for (int& digit : digits.at) {
    digit = static_cast<int>(static_cast<unsigned>(x));
    x = (x - static_cast<int8::UnsignedWide>(static_cast<int8::Wide>(digit))) >> 32;
  }
  return digits;
}

#ifdef __CUDACC__

/// Returns Σ a_i·b_i + c over four unsigned bytes of a and four signed bytes of b.
__device__ inline int add_bytes(unsigned a, unsigned b, int c) {
  int sum;
  asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(b), "r"(c));
  return sum;
}
/// Returns Σ a_i·b_i + c over two unsigned 16-bit numbers of a, and the signed bytes 0 and 1 of b, or 2 and 3 if
/// `upper`.
template <bool upper>
__device__ inline int add_pairs(unsigned a, unsigned b, int c) {
  int sum;
  if constexpr (upper)
    asm("dp2a.hi.u32.s32 %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(b), "r"(c));
  else
    asm("dp2a.lo.u32.s32 %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(b), "r"(c));
  return sum;
}

/// Returns a number whose low byte is the residue of a weighted sum.
__device__ inline int remainder_of(int sum, float inverse, float shift, int modulus) {
  const int quotient = __float_as_int(__fmaf_rn(__int_as_float(sum), inverse, shift));
  return sum - modulus * quotient;
}

/// Returns the low bytes of four numbers in one word.
__device__ inline unsigned low_bytes(unsigned a, unsigned b, unsigned c, unsigned d) {
  return __byte_perm(__byte_perm(a, b, 0x0040), __byte_perm(c, d, 0x0040), 0x5410);
}

#endif

} // namespace tessera::cuda::int8_units
