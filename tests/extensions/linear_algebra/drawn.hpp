#pragma once

/// Random choices, and complex or real matrices in memory, for the tests of level 3.

#include <algorithm>
#include <complex>
#include <random>
#include <vector>

#include "systems.hpp"

namespace tessera::test {

using Numbers = Systems;
/// The random choices of a test, which are the same in each run.
class Draw {
 public:
  explicit Draw(unsigned seed) : engine_(seed) {}
  Index index(Index least, Index most) {
    return least + static_cast<Index>(engine_() % static_cast<unsigned>(most - least + 1));
  }
  bool yes() { return index(0, 1) == 1; }
  template <class T>
  T part() {
    return static_cast<T>(index(-1000000, 1000000)) / 1000000;
  }
  template <class T>
  T number() {
    if constexpr (is_complex<T>)
      return {part<Part<T>>(), part<Part<T>>()};
    else
      return part<T>();
  }
  /// 0, 1, −1, or any number.
  template <class T>
  T factor() {
    const Index choice = index(0, 5);
    return choice < 3 ? T(static_cast<Part<T>>(choice - 1)) : number<T>();
  }
  Triangle triangle() { return yes() ? Triangle::Lower : Triangle::Upper; }
  Side side() { return yes() ? Side::Left : Side::Right; }
  Diagonal diagonal() { return yes() ? Diagonal::Stored : Diagonal::Unit; }
  Op op() { return static_cast<Op>(index(0, is_complex_op ? 2 : 1)); }
  bool is_complex_op = false;

 private:
  std::mt19937 engine_;
};

/// A row-major matrix whose rows lie apart.
template <class T>
struct Stored {
  Stored(Draw& draw, Index m, Index n) : rows(m), cols(n), ld(std::max<Index>(1, n) + draw.index(0, 3)) {
    values.resize(static_cast<std::size_t>(m * ld + 1));
    for (T& value : values) value = draw.number<T>();
  }
  T& at(Index i, Index j) { return values[static_cast<std::size_t>(i * ld + j)]; }
  /// Puts numbers here and there that are not finite, subnormal, zero or −0, in one part of complex ones.
  void harden(Draw& draw, Index every) {
    using Limits = std::numeric_limits<Part<T>>;
    const Part<T> hard[] = {Limits::quiet_NaN(), Limits::infinity(), Limits::denorm_min(), Limits::min(), 0,
                            -Part<T>(0),         Limits::max()};
    auto* const parts = reinterpret_cast<Part<T>*>(values.data());
    const auto count = static_cast<Index>(values.size() * sizeof(T) / sizeof(Part<T>));
    for (Index i = draw.index(0, every); i < count; i += draw.index(1, 2 * every)) parts[i] = hard[draw.index(0, 6)];
  }
  /// Makes products of two such numbers as small as the least subnormal ones.
  void shrink() {
    using Limits = std::numeric_limits<Part<T>>;
    for (T& value : values) value *= std::ldexp(Part<T>(1), (Limits::min_exponent - Limits::digits) / 2);
  }
  Index rows, cols, ld;
  std::vector<T> values;
};

/// Counts the numbers with other bits, of whole memory. NaN equals NaN.
template <class T>
Index differing(const std::vector<T>& x, const std::vector<T>& y) {
  using Bits = std::conditional_t<sizeof(Part<T>) == 4, std::uint32_t, std::uint64_t>;
  const auto *p = reinterpret_cast<const Part<T>*>(x.data()), *q = reinterpret_cast<const Part<T>*>(y.data());
  Index count = 0;
  for (std::size_t i = 0; i < x.size() * sizeof(T) / sizeof(Part<T>); ++i)
    count += std::bit_cast<Bits>(p[i]) != std::bit_cast<Bits>(q[i]) && !(std::isnan(p[i]) && std::isnan(q[i]));
  return count;
}

} // namespace tessera::test
