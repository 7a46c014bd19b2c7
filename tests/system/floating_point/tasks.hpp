#pragma once

/// Everything that an executor computes, on numbers whose results depend on the floating-point state: products and sums
/// that are subnormal, inexact, or overflow.

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <tessera/executor.hpp>

namespace tessera::test {

using Bytes = std::vector<std::byte>;

/// Returns numbers of T with exponents `least` … `most` and, unless all are to be positive, both signs.
template <class T>
std::vector<T> numbers(std::size_t count, int least, int most, bool positive = false) {
  std::vector<T> all;
  all.reserve(count);
  std::uint64_t state = 88172645463325252u;
  while (all.size() < count) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    const int exponent = least + static_cast<int>(state >> 8 & 0xFF) % (most - least + 1);
    const double digits = 1 + static_cast<double>(state >> 40) * 0x1p-24;
    all.push_back(static_cast<T>(std::ldexp(positive || (state >> 16 & 1) != 0 ? digits : -digits, exponent)));
  }
  return all;
}

/// A product of 400×400×400 of f32 whose results are all subnormal.
class SmallNumbers {
 public:
  static constexpr Index side = 400;
  Bytes multiply(Executor& executor) const;

 private:
  static constexpr std::size_t elements = static_cast<std::size_t>(side * side);
  std::vector<float> a_ = numbers<float>(elements, -72, -70), b_ = numbers<float>(elements, -68, -66);
};

/// run(executor) returns the bytes of the result. It does not compute by itself.
struct Task {
  std::string name;
  std::function<Bytes(Executor&)> run;
};

std::vector<Task> tasks();

} // namespace tessera::test
