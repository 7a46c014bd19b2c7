#pragma once

/// Vectors for the tests of levels 1 and 2, the routines' names, and level 1 as docs/contract.md defines it, written
/// plainly.

#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>
#include <type_traits>
#include <utility>
#include <vector>

#include <tessera/types.hpp>

#include "reference/elementwise/complex_number.hpp"

extern "C" {
#include "handlers.h"
}

namespace tessera::test {

static_assert(sizeof(ComplexNumber<float>) == 8 && sizeof(ComplexNumber<double>) == 16); // as C returns them

template <class N>
inline constexpr bool is_complex = false;
template <class R>
inline constexpr bool is_complex<ComplexNumber<R>> = true;
template <class N>
inline constexpr int parts = is_complex<N> ? 2 : 1;
template <class N>
struct PartOf {
  using Type = N;
};
template <class R>
struct PartOf<ComplexNumber<R>> {
  using Type = R;
};
template <class N>
using RealOf = typename PartOf<N>::Type;
template <class N>
RealOf<N>& part_of(N& x, int part) {
  return reinterpret_cast<RealOf<N>*>(&x)[part];
}
template <class N>
const RealOf<N>& part_of(const N& x, int part) {
  return reinterpret_cast<const RealOf<N>*>(&x)[part];
}
template <class N>
using ByValue = std::conditional_t<is_complex<N>, const N*, N>;
template <class N>
ByValue<N> by_value(const N& x) {
  if constexpr (is_complex<N>)
    return &x;
  else
    return x;
}
inline blas_int integer(Index x) { return static_cast<blas_int>(x); }
inline int failures_of_program() { return failures; }

template <class N>
bool same_bits(const N& x, const N& y) {
  using R = RealOf<N>;
  using Bits = std::conditional_t<sizeof(R) == 4, std::uint32_t, std::uint64_t>;
  for (int part = 0; part < parts<N>; ++part) {
    const R a = part_of(x, part), b = part_of(y, part);
    if (std::bit_cast<Bits>(a) != std::bit_cast<Bits>(b) && !(a != a && b != b)) return false;
  }
  return true;
}
template <class N>
void must_be(const char* what, const N& expected, const N& got, Index n, Index step) {
  if (same_bits(expected, got)) return;
  std::fprintf(stderr, "%s of %d elements of %d bytes, step %d: (%.17g, %.17g), not (%.17g, %.17g)\n", what,
               static_cast<int>(n), static_cast<int>(sizeof(N)), static_cast<int>(step),
               static_cast<double>(part_of(got, 0)), static_cast<double>(part_of(got, parts<N> - 1)),
               static_cast<double>(part_of(expected, 0)), static_cast<double>(part_of(expected, parts<N> - 1)));
  ++failures;
}
inline void must_equal(const char* what, std::int64_t got, std::int64_t expected) {
  if (got == expected) return;
  std::fprintf(stderr, "%s: %ld, not %ld\n", what, static_cast<long>(got), static_cast<long>(expected));
  ++failures;
}

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  Index below(Index end) { return static_cast<Index>(engine_() % static_cast<std::uint64_t>(end)); }
  /// 0: numbers; 1: subnormal numbers and zeros among them; 2: also one NaN or Inf in 500.
  void choose_specials(int specials) { specials_ = specials, exponent_ = 0; }
  void choose_exponent(int exponent) { specials_ = 0, exponent_ = exponent; }
  template <class R>
  R value() {
    const double x = static_cast<double>(static_cast<std::int64_t>(engine_())) * 0x1p-63;
    if (specials_ > 0 && below(7) == 0)
      return below(2) == 0 ? R(x) * std::numeric_limits<R>::denorm_min() * 50 : R(-0.0);
    if (specials_ == 2 && below(500) == 0)
      return below(2) == 0 ? std::numeric_limits<R>::infinity() : std::numeric_limits<R>::quiet_NaN();
    return static_cast<R>(std::ldexp(x, sizeof(R) == 8 ? exponent_ : exponent_ / 8));
  }
  template <class N>
  N number() {
    N x;
    for (int part = 0; part < parts<N>; ++part) part_of(x, part) = value<RealOf<N>>();
    return x;
  }
  /// 0: any number; 1: a real one; 2: zero.
  template <class N>
  N factor(int kind) {
    N x = kind == 2 ? N{} : number<N>();
    if (is_complex<N> && kind == 1) part_of(x, 1) = 0;
    return x;
  }

 private:
  std::mt19937_64 engine_;
  int specials_ = 0, exponent_ = 0;
};

/// A vector in memory with gaps that hold 12345, from its last element on where the step is negative, and not aligned.
template <class N>
struct Spread {
  Spread(Random& random, Index n, Index by) : size(n), step(by) {
    N gap{};
    part_of(gap, 0) = 12345;
    values.assign(static_cast<std::size_t>((n == 0 ? 0 : (n - 1) * std::abs(by)) + 3), gap);
    for (Index i = 0; i < n; ++i) at(i) = random.number<N>();
  }
  N* data() { return values.data() + 1; }
  const N* data() const { return values.data() + 1; }
  Index place(Index i) const { return 1 + (step < 0 ? (i - size + 1) * step : i * step); }
  N& at(Index i) { return values[static_cast<std::size_t>(place(i))]; }
  const N& at(Index i) const { return values[static_cast<std::size_t>(place(i))]; }
  void must_equal(const char* what, const Spread& got) const {
    for (std::size_t i = 0; i < values.size(); ++i)
      if (!same_bits(values[i], got.values[i])) return must_be(what, values[i], got.values[i], size, step);
  }

  Index size, step;
  std::vector<N> values;
};

/// The order of "Sums and scans": add(lane, i) adds element i.
template <class V, class Join, class Add>
V model_sum(Index n, const Join& join, const Add& add) {
  const auto fold = [&](V* lane) {
    for (int width = 16; width > 0; width /= 2)
      for (int l = 0; l < width; ++l) lane[l] = join(lane[l], lane[l + width]);
    return lane[0];
  };
  std::vector<V> values;
  for (Index first = 0; first < n; first += 1024) {
    V lane[32] = {};
    for (Index i = first; i < std::min(n, first + 1024); ++i) add(lane[(i - first) % 32], i);
    values.push_back(fold(lane));
  }
  while (values.size() > 1) {
    std::vector<V> next;
    for (std::size_t first = 0; first < values.size(); first += 1024) {
      V lane[32] = {};
      for (std::size_t i = first; i < std::min(values.size(), first + 1024); ++i)
        lane[(i - first) % 32] = join(lane[(i - first) % 32], values[i]);
      next.push_back(fold(lane));
    }
    values = next;
  }
  return values.empty() ? V{} : values[0];
}
template <class R>
R model_real_sum(Index n, const auto& add) {
  return model_sum<R>(
      n, [](R x, R y) { return x + y; }, add);
}

template <class N>
N model_dot(const Spread<N>& x, const Spread<N>& y, bool conjugates) {
  if constexpr (is_complex<N>)
    return model_sum<N>(
        x.size,
        [](N a, N b) {
          return N{a.re + b.re, a.im + b.im};
        },
        [&](N& lane, Index i) {
          const N a = conjugates ? conjugate(x.at(i)) : x.at(i), b = y.at(i);
          lane.re = std::fma(a.im, -b.im, std::fma(a.re, b.re, lane.re));
          lane.im = std::fma(a.im, b.re, std::fma(a.re, b.im, lane.im));
        });
  else
    return model_real_sum<N>(x.size, [&](N& lane, Index i) { lane = std::fma(x.at(i), y.at(i), lane); });
}
inline double model_double_dot(const Spread<float>& x, const Spread<float>& y) {
  return model_real_sum<double>(x.size, [&](double& lane, Index i) {
    lane = std::fma(static_cast<double>(x.at(i)), static_cast<double>(y.at(i)), lane);
  });
}

/// Part i of a vector.
template <class N>
RealOf<N> part_at(const Spread<N>& x, Index i) {
  return part_of(x.at(i / parts<N>), static_cast<int>(i % parts<N>));
}
template <class N>
RealOf<N> model_asum(const Spread<N>& x) {
  using R = RealOf<N>;
  return model_real_sum<R>(x.size * parts<N>, [&](R& lane, Index i) { lane += std::abs(part_at(x, i)); });
}
template <class N>
RealOf<N> model_nrm2(const Spread<N>& x) {
  double largest = 0, scale = 1;
  for (Index i = 0; i < x.size * parts<N>; ++i) {
    const double size = std::abs(static_cast<double>(part_at(x, i)));
    if (size != size) return std::numeric_limits<RealOf<N>>::quiet_NaN();
    largest = std::max(largest, size);
  }
  if (std::isinf(largest)) return std::numeric_limits<RealOf<N>>::infinity();
  if (sizeof(RealOf<N>) == 8 && largest > 0x1p480) scale = 0x1p-600;
  if (sizeof(RealOf<N>) == 8 && largest < 0x1p-480) scale = 0x1p600;
  const double sum = model_real_sum<double>(x.size * parts<N>, [&](double& lane, Index i) {
    const double value = scale * static_cast<double>(part_at(x, i));
    lane = std::fma(value, value, lane);
  });
  return static_cast<RealOf<N>>(std::sqrt(sum) * (1 / scale));
}
template <class N>
Index model_iamax(const Spread<N>& x) {
  using R = RealOf<N>;
  const auto size = [&](Index i) {
    R sum = std::abs(part_of(x.at(i), 0));
    if (is_complex<N>) sum += std::abs(part_of(x.at(i), 1));
    return sum;
  };
  Index place = x.size > 0 ? 0 : -1;
  for (Index i = 1; i < x.size; ++i)
    if (size(i) > size(place) || (std::isnan(size(i)) && !std::isnan(size(place)))) place = i;
  return place;
}

template <class N>
N model_scaled(const N& alpha, const N& x) {
  if constexpr (is_complex<N>) {
    if (alpha.im == 0) return {alpha.re * x.re, alpha.re * x.im};
    return {std::fma(-alpha.im, x.im, alpha.re * x.re), std::fma(alpha.im, x.re, alpha.re * x.im)};
  } else {
    return alpha * x;
  }
}
template <class N>
N model_axpy(const N& alpha, const N& x, const N& y) {
  if constexpr (is_complex<N>) {
    if (alpha.re == 0 && alpha.im == 0) return y;
    const N real{std::fma(alpha.re, x.re, y.re), std::fma(alpha.re, x.im, y.im)};
    return alpha.im == 0 ? real : N{std::fma(-alpha.im, x.im, real.re), std::fma(alpha.im, x.re, real.im)};
  } else {
    return alpha == 0 ? y : std::fma(alpha, x, y);
  }
}

} // namespace tessera::test

#include "level1_names.hpp"
