#include "rotations.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <tessera/detail/floating_point.hpp>

#include "reference/fma_clones.hpp"

namespace tessera::vectors {
namespace {

/// The power of two that a number's magnitude lies above or on; 1 for 0, Inf and NaN.
template <class R>
R power_of_two(R x) {
  return x == 0 || !std::isfinite(x) ? R{1} : std::scalbn(R{1}, std::ilogb(x));
}
template <class R>
R power_of_two(const ComplexNumber<R>& x) {
  return power_of_two(std::max(std::abs(x.re), std::abs(x.im)));
}

template <class R>
[[gnu::always_inline]] inline void rotate(R& a, R& b, R& c, R& s) {
  const R size_a = std::abs(a), size_b = std::abs(b);
  if (b == 0) {
    c = 1;
    s = 0;
    return; // z = 0 is in b
  }
  if (a == 0) {
    c = 0;
    s = 1;
    a = std::exchange(b, R{1});
    return;
  }
  const R scale = power_of_two(std::max(size_a, size_b));
  const R p = a / scale, q = b / scale;
  const R r = std::copysign(std::sqrt(std::fma(p, p, q * q)), size_a > size_b ? a : b);
  c = p / r;
  s = q / r;
  a = scale * r;
  b = size_a > size_b ? s : c != 0 ? 1 / c : R{1};
}

template <class R>
[[gnu::always_inline]] inline R square(const ComplexNumber<R>& x) {
  return std::fma(x.re, x.re, x.im * x.im);
}
template <class R>
ComplexNumber<R> each_part_over(const ComplexNumber<R>& x, R by) {
  return {x.re / by, x.im / by};
}

/// With f = v·p and g = u·q, where v and u are powers of two and u is not below v: |f|² = v²·|p|², and
/// |f|² + |g|² = u²·h, h = |p|²·(v/u)² + |q|², where nothing overflows.
template <class R>
[[gnu::always_inline]] inline void rotate(ComplexNumber<R>& f, const ComplexNumber<R>& g, R& c, ComplexNumber<R>& s) {
  if (g.re == 0 && g.im == 0) {
    c = 1;
    s = {0, 0};
    return;
  }
  if (f.re == 0 && f.im == 0) {
    const R u = power_of_two(g);
    const ComplexNumber<R> q = each_part_over(g, u);
    const R size = std::sqrt(square(q));
    c = 0;
    s = each_part_over(conjugate(q), size);
    f = {u * size, 0};
    return;
  }
  const R v = power_of_two(f), u = std::max(v, power_of_two(g)), w = v / u;
  const ComplexNumber<R> p = each_part_over(f, v), q = each_part_over(g, u);
  const R p2 = square(p), h = std::fma(p2 * w, w, square(q)), root = std::sqrt(p2 * h);
  c = w * (p2 / root);
  const ComplexNumber<R> direction = each_part_over(p, root);
  s = {std::fma(q.im, direction.im, q.re * direction.re), std::fma(-q.im, direction.re, q.re * direction.im)};
  f = {u * (p.re * (h / root)), u * (p.im * (h / root))};
}

/// H, while it is found.
template <class R>
struct Modified {
  R flag = -1, h11 = 0, h21 = 0, h12 = 0, h22 = 0;

  /// Writes the ones that the flag stands for, so that all four are numbers and the flag is −1.
  void make_whole() {
    if (flag == 0) h11 = h22 = 1;
    if (flag == 1) {
      h21 = -1;
      h12 = 1;
    }
    flag = -1;
  }
};

/// Brings |d| between 2⁻²⁴ and 2²⁴ by powers of 2²⁴; change(by) multiplies what belongs to the root of d.
template <class R, class Change>
void rescale(R& d, Modified<R>& h, const Change& change) {
  constexpr R gamma = 4096, square = gamma * gamma;
  while (d != 0 && std::isfinite(d) && (std::abs(d) <= 1 / square || std::abs(d) >= square)) {
    h.make_whole();
    const bool small = std::abs(d) <= 1 / square;
    d *= small ? square : 1 / square;
    change(small ? 1 / gamma : gamma);
  }
}

template <class R>
[[gnu::always_inline]] inline Modified<R> rotate_modified(R& d1, R& d2, R& x1, R y1) {
  Modified<R> h;
  const auto give_up = [&] {
    d1 = d2 = x1 = 0;
    return Modified<R>{};
  };
  if (d1 < 0) return give_up();
  const R p2 = d2 * y1;
  if (p2 == 0) {
    h.flag = -2;
    return h;
  }
  const R p1 = d1 * x1, q2 = p2 * y1, q1 = p1 * x1;
  if (std::abs(q1) > std::abs(q2)) {
    h.flag = 0;
    h.h21 = -y1 / x1;
    h.h12 = p2 / p1;
    const R u = std::fma(-h.h12, h.h21, R{1});
    if (!(u > 0)) return give_up();
    d1 /= u;
    d2 /= u;
    x1 *= u;
  } else {
    if (q2 < 0) return give_up();
    h.flag = 1;
    h.h11 = p1 / p2;
    h.h22 = x1 / y1;
    const R u = std::fma(h.h11, h.h22, R{1});
    const R old = std::exchange(d1, d2 / u);
    d2 = old / u;
    x1 = y1 * u;
  }
  rescale(d1, h, [&](R by) {
    x1 *= by;
    h.h11 *= by;
    h.h12 *= by;
  });
  rescale(d2, h, [&](R by) {
    h.h21 *= by;
    h.h22 *= by;
  });
  return h;
}

#define TESSERA_ROTATIONS(R)                                                                                         \
  TESSERA_FMA_CLONES void find_rotation(R& a, R& b, R& c, R& s) { rotate(a, b, c, s); }                              \
  TESSERA_FMA_CLONES void find_rotation(ComplexNumber<R>& f, const ComplexNumber<R>& g, R& c, ComplexNumber<R>& s) { \
    rotate(f, g, c, s);                                                                                              \
  }                                                                                                                  \
  TESSERA_FMA_CLONES void find_modified(R& d1, R& d2, R& x1, const R& y1, Modified<R>& h) {                          \
    h = rotate_modified(d1, d2, x1, y1);                                                                             \
  }
TESSERA_ROTATIONS(float)
TESSERA_ROTATIONS(double)
#undef TESSERA_ROTATIONS

} // namespace

template <class R>
void rotg(R& a, R& b, R& c, R& s) noexcept {
  const detail::ContractArithmetic contract;
  find_rotation(a, b, c, s);
}

template <class R>
void rotg(ComplexNumber<R>& a, const ComplexNumber<R>& b, R& c, ComplexNumber<R>& s) noexcept {
  const detail::ContractArithmetic contract;
  find_rotation(a, b, c, s);
}

template <class R>
void rotmg(R& d1, R& d2, R& x1, R y1, R* param) noexcept {
  const detail::ContractArithmetic contract;
  Modified<R> h;
  find_modified(d1, d2, x1, y1, h);
  param[0] = h.flag;
  if (h.flag == -1 || h.flag == 1) {
    param[1] = h.h11;
    param[4] = h.h22;
  }
  if (h.flag == -1 || h.flag == 0) {
    param[2] = h.h21;
    param[3] = h.h12;
  }
}

template TESSERA_API_INSTANCE void rotg(float&, float&, float&, float&) noexcept;
template TESSERA_API_INSTANCE void rotg(double&, double&, double&, double&) noexcept;
template TESSERA_API_INSTANCE void rotg(ComplexNumber<float>&, const ComplexNumber<float>&, float&,
                                        ComplexNumber<float>&) noexcept;
template TESSERA_API_INSTANCE void rotg(ComplexNumber<double>&, const ComplexNumber<double>&, double&,
                                        ComplexNumber<double>&) noexcept;
template TESSERA_API_INSTANCE void rotmg(float&, float&, float&, float, float*) noexcept;
template TESSERA_API_INSTANCE void rotmg(double&, double&, double&, double, double*) noexcept;

} // namespace tessera::vectors
