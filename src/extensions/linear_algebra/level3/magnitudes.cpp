#include "magnitudes.hpp"

#include <bit>
#include <cstdint>

#include "reference/fma_clones.hpp"

namespace tessera::linear_algebra {
namespace {

/// Numbers of one sign are in the order of their bits as integers.
template <class P, class Bits>
[[gnu::always_inline]] inline Magnitudes<P> find_magnitudes(const NumbersInRows<P>& numbers) {
  constexpr Bits magnitude = std::numeric_limits<Bits>::max(); // all bits but the sign's
  constexpr Bits infinite = std::bit_cast<Bits>(std::numeric_limits<P>::infinity());
  Bits least = infinite, largest = 0;
  const P* row = numbers.first;
  for (Index r = 0, count = numbers.count; r < numbers.rows; ++r, row += numbers.step, count += numbers.more)
    for (Index i = 0; i < count; ++i) {
      const Bits bits = std::bit_cast<Bits>(row[i]) & magnitude;
      largest = largest > bits ? largest : bits;
      const Bits counted = bits == 0 ? infinite : bits;
      least = least < counted ? least : counted;
    }
  return {std::bit_cast<P>(least), largest < infinite};
}

} // namespace

TESSERA_WIDE_CLONES Magnitudes<float> magnitudes_of(const NumbersInRows<float>& numbers) {
  return find_magnitudes<float, std::int32_t>(numbers);
}
TESSERA_WIDE_CLONES Magnitudes<double> magnitudes_of(const NumbersInRows<double>& numbers) {
  return find_magnitudes<double, std::int64_t>(numbers);
}

} // namespace tessera::linear_algebra
