#pragma once

/// What the parts of the campaign count, and the random numbers that they share.

#include <cstdint>

#include <tessera/random.hpp>
#include <tessera/types.hpp>

namespace tessera::test {

/// What a part of the campaign counted.
struct Counts {
  Index planted = 0, missed = 0; ///< single elements, each off by more than 2·w_i
  Index pairs = 0, pairs_missed = 0;
  Index honest = 0, refused = 0; ///< products
  Index honest_rows_found = 0;   ///< honest rows beside planted ones that the check found
  Index unjudged = 0;            ///< rows of such products, which have no large elements, that were not judged

  void add(const Counts& other) {
    planted += other.planted;
    missed += other.missed;
    pairs += other.pairs;
    pairs_missed += other.pairs_missed;
    honest += other.honest;
    refused += other.refused;
    honest_rows_found += other.honest_rows_found;
    unjudged += other.unjudged;
  }
};

/// Random numbers of a counter-based generator.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : seed_(seed) {}
  /// Returns a whole number in 0 … count − 1.
  Index below(Index count) {
    const PhiloxBlock block = philox4x32(seed_, next_++, 0x43616d70);
    const std::uint64_t bits = static_cast<std::uint64_t>(block.word[0]) << 32 | block.word[1];
    return static_cast<Index>(bits % static_cast<std::uint64_t>(count));
  }
  double between(double low, double high) {
    return low + (high - low) * static_cast<double>(below(Index{1} << 40)) * 0x1p-40;
  }

 private:
  std::uint64_t seed_;
  std::uint64_t next_ = 0;
};

} // namespace tessera::test
