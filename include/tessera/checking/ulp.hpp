#pragma once

/// Distances in units in the last place (ULP): the number of steps through the numbers of a type from one to another.

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include <tessera/types.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

namespace detail {
/// Returns the place of x among all numbers of its type; −0 and +0 share one. x must not be NaN.
inline std::uint64_t place(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint64_t zero = 0x80000000u;
  return bits < zero ? zero + bits : 2 * zero - bits;
}
inline std::uint64_t place(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const std::uint64_t zero = std::uint64_t{1} << 63;
  return bits < zero ? zero + bits : 2 * zero - bits; // 2·zero wraps to 0, as it should
}
} // namespace detail

/// Returns the number of steps from x to y; 0 if x == y. Neither may be NaN.
template <class T>
std::uint64_t ulp_distance(T x, T y) {
  const std::uint64_t a = detail::place(x);
  const std::uint64_t b = detail::place(y);
  return a < b ? b - a : a - b;
}

/// The number of elements at each distance from the correctly rounded result, in bins 0, 1, 2, 3–4, 5–8, 9–16, …, and
/// the number of elements that are NaN or Inf on one side only, which have no distance.
class UlpHistogram {
 public:
  static constexpr std::size_t bins = 66; ///< number of bins of finite distances

  /// Returns the bin of a distance.
  static std::size_t bin_of(std::uint64_t distance) {
    return distance == 0 ? 0 : static_cast<std::size_t>(std::bit_width(distance - 1)) + 1;
  }
  /// Returns the largest distance in a bin.
  static double up_to(std::size_t bin) { return bin == 0 ? 0 : std::ldexp(1.0, static_cast<int>(bin) - 1); }

  /// Counts an element at this distance.
  void add(std::uint64_t distance) { ++count_[bin_of(distance)]; }
  /// Counts an element that is NaN or Inf on one side only.
  void add_infinite() { ++infinite_; }
  /// Adds the other histogram's counts to these.
  void add(const UlpHistogram& other) {
    for (std::size_t b = 0; b < bins; ++b) count_[b] += other.count_[b];
    infinite_ += other.infinite_;
  }

  /// Returns the number of elements in a bin.
  Index count(std::size_t bin) const { return count_[bin]; }
  /// Returns the number of elements without a distance.
  Index infinite() const { return infinite_; }
  /// Returns the number of all elements that were counted.
  Index total() const {
    Index sum = infinite_;
    for (const Index count : count_) sum += count;
    return sum;
  }

 private:
  std::array<Index, bins> count_{};
  Index infinite_ = 0;
};

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
