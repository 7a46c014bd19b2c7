#pragma once

/// Operands that no earlier call determines, and the errors that an honest kernel makes on them.
///
/// A bound that holds for every product is far above the errors of most: for long sums even zeros are within it. The
/// elements that the judge draws have a known distribution, so that the size of honest errors is known as well. Their
/// root mean square tells sums in f32 from tf32, bf16 and f16, and from zeros, up to k of some millions.
///
/// Source: Higham and Mary, "A New Approach to Probabilistic Rounding Error Analysis" (2019).

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <tessera/backend/kernel.hpp>

namespace tessera::judge {

/// Does the call ask for f32 or f64 without rounded operands and without recursion?
bool is_full_precision(const GemmCall& call);

/// Returns a generator that the system seeds: its numbers tell nothing of another generator.
std::mt19937_64 unpredictable();

/// Chooses `chosen` of the numbers 0 … count − 1, each once; all of them if there are fewer.
std::vector<Index> some_of(Index count, Index chosen, std::mt19937_64& random);

/// The distribution of a call's operands. Elements of A, B and C are uniform between minus and plus these numbers.
struct Spread {
  double a = 1, b = 1, c = 1;
};

/// Chooses a distribution for a call. Operands in full precision are large or small by a random power of two, so that
/// a narrower exponent shows, too.
Spread random_spread(const GemmCall& call, std::mt19937_64& random);

/// Returns an element between −spread and spread, with bits in every place of its significand.
template <class T>
T drawn_element(double spread, std::mt19937_64& random) {
  return static_cast<T>(static_cast<double>(static_cast<std::int64_t>(random())) * (spread * 0x1p-63));
}

/// Says why some rows of C have larger errors than honest sums make; "" if they have not. `placed`: the call with the
/// drawn operands and C as it was before the product. `found`: the kernel's C, with the call's ldc. Costs 2·k·n
/// operations for each of four rows at most. Says nothing where fewer than 64 elements can be looked at, and of
/// Strassen's recursion.
std::string untypical_errors(const GemmCall& placed, const void* found, const Spread& spread, std::mt19937_64& random);

} // namespace tessera::judge
