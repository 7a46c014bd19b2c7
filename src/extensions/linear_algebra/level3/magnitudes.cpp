#include "magnitudes.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "reference/fma_clones.hpp"

namespace tessera::linear_algebra {
namespace {

/// Looks at numbers by the bits of their magnitudes, which are in the order of these as integers, in vectors of the
/// compiler's own. Two chains of minima run beside each other, because each waits for the minimum before.
template <class P, class Bits>
class Finder {
 public:
  [[gnu::always_inline]] void look_at(const P* x, Index count) {
    Index i = 0;
    for (; i + 2 * lanes <= count; i += 2 * lanes) {
      first_.look_at(load(x + i));
      second_.look_at(load(x + i + lanes));
    }
    if (i + lanes <= count) {
      first_.look_at(load(x + i));
      i += lanes;
    }
    if (i == count) return;
    if (count >= lanes) return second_.look_at(load(x + count - lanes)); // some numbers a second time
    Vector rest{};                                                       // zeros do not count
    for (Index l = 0; i < count; ++i, ++l) rest[l] = std::bit_cast<Bits>(x[i]);
    second_.look_at(rest);
  }
  [[gnu::always_inline]] Magnitudes<P> found() const {
    Bits least = without_numbers;
    bool are_finite = true;
    for (const Chain* chain : {&first_, &second_})
      for (Index l = 0; l < lanes; ++l) {
        least = std::min(least, chain->least[l]);
        are_finite = are_finite && chain->excess[l] >= 0;
      }
    return {least == without_numbers ? std::numeric_limits<P>::infinity() : std::bit_cast<P>((least ^ sign) + 1),
            are_finite};
  }

 private:
  static constexpr Index lanes = 32 / sizeof(P);
  typedef Bits Vector __attribute__((vector_size(32), aligned(alignof(P)), may_alias));
  static constexpr Bits sign = std::numeric_limits<Bits>::min(), without_numbers = std::numeric_limits<Bits>::max();
  static constexpr Bits infinite = std::bit_cast<Bits>(std::numeric_limits<P>::infinity());

  [[gnu::always_inline]] static Vector load(const P* x) { return *reinterpret_cast<const Vector*>(x); }

  struct Chain {
    Vector least = without_numbers - Vector{}; ///< less 1, and with the other sign: so 0 is the largest
    Vector excess{};                           ///< has the sign's bit if a magnitude was not less than infinity
    [[gnu::always_inline]] void look_at(const Vector& x) {
      const Vector bits = x & without_numbers;
      excess |= (infinite - 1) - bits;
      const Vector counted = (bits - 1) ^ sign;
      least = least < counted ? least : counted;
    }
  };
  Chain first_, second_;
};

template <class P, class Bits>
[[gnu::always_inline]] inline Magnitudes<P> find_magnitudes(const NumbersInRows<P>& numbers) {
  Finder<P, Bits> finder;
  const P* row = numbers.first;
  for (Index r = 0, count = numbers.count; r < numbers.rows; ++r, row += numbers.step, count += numbers.more)
    finder.look_at(row, count);
  return finder.found();
}

} // namespace

TESSERA_INTEGER_CLONES Magnitudes<float> magnitudes_of(const NumbersInRows<float>& numbers) {
  return find_magnitudes<float, std::int32_t>(numbers);
}
TESSERA_INTEGER_CLONES Magnitudes<double> magnitudes_of(const NumbersInRows<double>& numbers) {
  return find_magnitudes<double, std::int64_t>(numbers);
}

} // namespace tessera::linear_algebra
