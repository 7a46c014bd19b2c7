#include "remainders.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include <tessera/detail/int8_units.hpp>

#include "reference/fma_clones.hpp"

namespace tessera::cpu::int8_units {
namespace {

namespace int8 = detail::int8;

constexpr std::size_t count_of_moduli = int8::moduli.size();
constexpr int pieces = 3, piece_bits = 40;
constexpr double piece = 0x1p40;

/// A number of up to 120 bits, in pieces of 40 bits, the least one first. A piece times a residue, added over all
/// residues, is below 2⁵², so that it is exact in a double.
using InPieces = std::array<double, pieces>;

constexpr InPieces in_pieces(int8::UnsignedWide x) {
  InPieces result{};
  for (double& one : result) {
    one = static_cast<double>(static_cast<std::uint64_t>(x & ((int8::UnsignedWide{1} << piece_bits) - 1)));
    x >>= piece_bits;
  }
  return result;
}

constexpr int8::UnsignedWide product_of_moduli = [] {
  int8::UnsignedWide product = 1;
  for (const int modulus : int8::moduli) product *= static_cast<unsigned>(modulus);
  return product;
}();

/// The numbers that are 1 modulo one modulus and 0 modulo all others.
constexpr std::array<InPieces, count_of_moduli> units_of_moduli = [] {
  std::array<InPieces, count_of_moduli> units{};
  for (std::size_t l = 0; l < count_of_moduli; ++l) {
    const auto modulus = static_cast<unsigned>(int8::moduli[l]);
    const int8::UnsignedWide others = product_of_moduli / modulus;
    int8::UnsignedWide unit = others;
    while (unit % modulus != 1) unit += others;
    units[l] = in_pieces(unit);
  }
  return units;
}();
constexpr InPieces whole = in_pieces(product_of_moduli);
constexpr double inverse_of_whole = 1 / ((whole[2] * piece + whole[1]) * piece + whole[0]);

constexpr Index most_together = 64; ///< sums whose pieces are kept at once

struct Pieces {
  double low[most_together], middle[most_together], high[most_together];
};

/// Makes the pieces of sums, which are between −2⁵² and 2⁵² each.
TESSERA_FMA_CLONES void add_units(const std::uint8_t* residues, Index plane, Index count, Pieces& sums) {
  for (Index j = 0; j < count; ++j) {
    double low = 0, middle = 0, high = 0;
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC unroll 15
#endif
    for (std::size_t l = 0; l < count_of_moduli; ++l) {
      const double residue = residues[static_cast<Index>(l) * plane + j];
      low = std::fma(residue, units_of_moduli[l][0], low);
      middle = std::fma(residue, units_of_moduli[l][1], middle);
      high = std::fma(residue, units_of_moduli[l][2], high);
    }
    // The sum is a multiple of the product of the moduli and a number of at most 0.3 times it, so that rounding finds
    // the multiple.
    const double multiple = std::rint((high * piece + middle) * piece * inverse_of_whole);
    sums.low[j] = std::fma(-multiple, whole[0], low);
    sums.middle[j] = std::fma(-multiple, whole[1], middle);
    sums.high[j] = std::fma(-multiple, whole[2], high);
  }
}

/// Returns sum·2^exponent, rounded once. Where the result is a normal number, rounding the sum is rounding the result.
double rounded(int8::Wide sum, int exponent) {
  constexpr std::uint64_t exponent_bits = 0x7ff0000000000000;
  const auto bits = std::bit_cast<std::uint64_t>(static_cast<double>(sum));
  const int field = static_cast<int>((bits & exponent_bits) >> 52) + exponent;
  if (sum == 0 || field <= 0 || field >= 2047) return int8::rounded(sum, exponent);
  return std::bit_cast<double>((bits & ~exponent_bits) | static_cast<std::uint64_t>(field) << 52);
}

/// Stores sums modulo a modulus, which are below 2⁸.
template <class To>
[[gnu::always_inline]] inline void reduce_to(const std::int32_t* sums, Index count, int modulus, To* to) {
  const double m = modulus, inverse = 1 / m;
  for (Index j = 0; j < count; ++j) {
    const double sum = sums[j];
    const auto rest = static_cast<std::int32_t>(std::fma(-std::floor(sum * inverse), m, sum));
    to[j] = static_cast<To>(rest + (rest < 0 ? modulus : 0) - (rest >= modulus ? modulus : 0));
  }
}

} // namespace

TESSERA_FMA_CLONES void reduce(const std::int32_t* sums, Index count, int modulus, std::uint8_t* residues) {
  reduce_to(sums, count, modulus, residues);
}

TESSERA_FMA_CLONES void reduce(std::int32_t* sums, Index count, int modulus) { reduce_to(sums, count, modulus, sums); }

void put_together(const std::uint8_t* residues, Index plane, Index count, const int* exponents, double* sums) {
  Pieces parts;
  for (Index first = 0; first < count; first += most_together) {
    const Index here = std::min(most_together, count - first);
    add_units(residues + first, plane, here, parts);
    for (Index j = 0; j < here; ++j) {
      const auto middle = (int8::Wide{static_cast<std::int64_t>(parts.high[j])} * (std::int64_t{1} << piece_bits)) +
                          static_cast<std::int64_t>(parts.middle[j]);
      const int8::Wide sum = middle * (std::int64_t{1} << piece_bits) + static_cast<std::int64_t>(parts.low[j]);
      sums[first + j] = rounded(sum, exponents[first + j]);
    }
  }
}

} // namespace tessera::cpu::int8_units
