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
constexpr int piece_bits = 40;
constexpr double piece = 0x1p40;

/// A number of up to 120 bits, in pieces of 40 bits, the least one first. A piece times a residue, added over all
/// residues, is below 2⁵², so that it is exact in a double.
using InPieces = std::array<double, 3>;

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

/// Sums in pieces: high·2⁸⁰ + middle·2⁴⁰ + low, each a whole number below 2⁵² in magnitude.
struct Pieces {
  double low[most_together], middle[most_together], high[most_together];
};

/// Adds up the pieces of sums, and takes the multiple of the product of the moduli away.
TESSERA_INTEGER_CLONES void add_units(const std::uint8_t* __restrict residues, Index plane, Index count,
                                      Pieces& __restrict sums) {
  for (Index j = 0; j < count; ++j) {
    double low = 0, middle = 0, high = 0;
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC unroll 15
#endif
    for (std::size_t l = 0; l < count_of_moduli; ++l) {
      const double residue = residues[static_cast<Index>(l) * plane + j];
      low += residue * units_of_moduli[l][0];
      middle += residue * units_of_moduli[l][1];
      high += residue * units_of_moduli[l][2];
    }
    // The sum is a multiple of the product of the moduli and a number of at most 0.3 times it, so that rounding finds
    // the multiple.
    const double multiple = std::rint((high * piece + middle) * piece * inverse_of_whole);
    sums.low[j] = low - multiple * whole[0];
    sums.middle[j] = middle - multiple * whole[1];
    sums.high[j] = high - multiple * whole[2];
  }
}

/// Rounds sums times powers of two, where the results are normal. Returns how many are not, which are left wrong.
TESSERA_INTEGER_CLONES Index round_normal(const Pieces& __restrict pieces, Index count,
                                          const std::int64_t* __restrict exponents, double* __restrict sums) {
  constexpr std::int64_t exponent_bits = 2047;
  Index others = 0;
  for (Index j = 0; j < count; ++j) {
    const double carry = std::rint(pieces.middle[j] / piece);
    const double middle = pieces.middle[j] - carry * piece, high = (pieces.high[j] + carry) * piece;
    const double upper = high + middle;                    // rounded
    const double lost = (middle - (upper - high)) * piece; // exactly what that lost
    const double lower = lost + pieces.low[j];             // rounded
    const double low_part = lower - lost, lost_part = lower - low_part;
    const double rest = (lost - lost_part) + (pieces.low[j] - low_part);
    // Rounding to odd: a last bit of 1 stands for whatever else is lost, so that the sum below is rounded once.
    const auto bits = std::bit_cast<std::int64_t>(lower);
    const std::int64_t step = (std::bit_cast<std::int64_t>(rest) ^ bits) < 0 ? -1 : 1;
    const std::int64_t odd = rest != 0 && (bits & 1) == 0 ? step : 0;
    const double sum = upper * piece + std::bit_cast<double>(bits + odd);
    const auto result = std::bit_cast<std::int64_t>(sum);
    const std::int64_t field = (result >> 52 & exponent_bits) + exponents[j];
    others += field > 0 && field < exponent_bits && sum != 0 ? 0 : 1;
    sums[j] =
        std::bit_cast<double>(static_cast<std::uint64_t>(result) + (static_cast<std::uint64_t>(exponents[j]) << 52));
  }
  return others;
}

/// Rounds one sum times a power of two, whatever the result is.
double round_any(const Pieces& pieces, Index j, std::int64_t exponent) {
  constexpr std::int64_t unit = std::int64_t{1} << piece_bits;
  const int8::Wide upper =
      int8::Wide{static_cast<std::int64_t>(pieces.high[j])} * unit + static_cast<std::int64_t>(pieces.middle[j]);
  return int8::rounded(upper * unit + static_cast<std::int64_t>(pieces.low[j]), static_cast<int>(exponent));
}

/// How sums are reduced.
struct Modulus {
  int value;
  float inverse, weight; ///< weight is 2¹⁶ modulo the modulus

  explicit Modulus(int modulus)
      : value(modulus), inverse(1 / static_cast<float>(modulus)), weight(static_cast<float>((1 << 16) % modulus)) {}
};

/// Returns a sum modulo a modulus, from 0 to 255. The sum is below 2³⁰ in magnitude; its upper 16 bits times their
/// weight and its lower 16 bits add up to less than 2²⁴, which is exact.
[[gnu::always_inline]] inline std::int32_t remainder_of(std::int32_t sum, const Modulus& modulus) {
  const float small = static_cast<float>(sum >> 16) * modulus.weight + static_cast<float>(sum & 0xffff);
  const float multiple = std::rint(small * modulus.inverse) * static_cast<float>(modulus.value);
  const auto rest = static_cast<std::int32_t>(small - multiple);
  return rest + (rest < 0 ? modulus.value : 0);
}

} // namespace

TESSERA_INTEGER_CLONES void reduce(const std::int32_t* __restrict sums, Index count, int modulus,
                                   std::uint8_t* __restrict residues) {
  const Modulus m(modulus);
  for (Index j = 0; j < count; ++j) residues[j] = static_cast<std::uint8_t>(remainder_of(sums[j], m));
}

TESSERA_INTEGER_CLONES void reduce(std::int32_t* sums, Index count, int modulus) {
  const Modulus m(modulus);
  for (Index j = 0; j < count; ++j) sums[j] = remainder_of(sums[j], m);
}

void put_together(const std::uint8_t* residues, Index plane, Index count, const std::int64_t* exponents, double* sums) {
  Pieces pieces;
  for (Index first = 0; first < count; first += most_together) {
    const Index here = std::min(most_together, count - first);
    add_units(residues + first, plane, here, pieces);
    if (round_normal(pieces, here, exponents + first, sums + first) > 0)
      for (Index j = 0; j < here; ++j) sums[first + j] = round_any(pieces, j, exponents[first + j]);
  }
}

} // namespace tessera::cpu::int8_units
