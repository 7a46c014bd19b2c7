#include "updates.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include <tessera/detail/floating_point.hpp>

#include "near_far.hpp"

namespace tessera::vectors {
namespace {

template <class R>
[[gnu::always_inline]] inline void add_real(R alpha, const Strided<const R>& x, const Strided<R>& y) {
  const R* const from = x.first;
  R* const to = y.first;
  if (x.is_contiguous() && y.is_contiguous())
    for (Index i = 0; i < x.size; ++i) to[i] = std::fma(alpha, from[i], to[i]);
  else
    for (Index i = 0; i < x.size; ++i) to[i * y.step] = std::fma(alpha, from[i * x.step], to[i * y.step]);
}

/// y := y + alpha·x, where the steps count parts.
template <class R>
[[gnu::always_inline]] inline void add_complex(R re, R im, const Strided<const R>& x, const Strided<R>& y) {
  const auto add = [=](const R* from, R* to) {
    const R x_re = from[0], x_im = from[1];
    to[0] = std::fma(-im, x_im, std::fma(re, x_re, to[0]));
    to[1] = std::fma(im, x_re, std::fma(re, x_im, to[1]));
  };
  if (x.step == 2 && y.step == 2)
    for (Index i = 0; i < x.size; ++i) add(x.first + 2 * i, y.first + 2 * i);
  else
    for (Index i = 0; i < x.size; ++i) add(x.first + i * x.step, y.first + i * y.step);
}

template <class R>
[[gnu::always_inline]] inline void scale_real(R alpha, const Strided<R>& x) {
  if (x.is_contiguous())
    for (Index i = 0; i < x.size; ++i) x.first[i] *= alpha;
  else
    for (Index i = 0; i < x.size; ++i) x.first[i * x.step] *= alpha;
}

template <class R>
[[gnu::always_inline]] inline void scale_complex(R re, R im, const Strided<R>& x) {
  const auto scale = [=](R* at) {
    const R x_re = at[0], x_im = at[1];
    at[0] = std::fma(-im, x_im, re * x_re);
    at[1] = std::fma(im, x_re, re * x_im);
  };
  if (x.step == 2)
    for (Index i = 0; i < x.size; ++i) scale(x.first + 2 * i);
  else
    for (Index i = 0; i < x.size; ++i) scale(x.first + i * x.step);
}

template <class R>
[[gnu::always_inline]] inline void transform_real(const PairMatrix<R>& matrix, const Strided<R>& x,
                                                  const Strided<R>& y) {
  const PairMatrix<R> m = matrix;
  const auto turn = [=](R& at_x, R& at_y) {
    const R old_x = at_x, old_y = at_y;
    at_x = std::fma(m.xy, old_y, m.xx * old_x);
    at_y = std::fma(m.yy, old_y, m.yx * old_x);
  };
  if (x.is_contiguous() && y.is_contiguous())
    for (Index i = 0; i < x.size; ++i) turn(x.first[i], y.first[i]);
  else
    for (Index i = 0; i < x.size; ++i) turn(x.first[i * x.step], y.first[i * y.step]);
}

template <class R>
[[gnu::always_inline]] inline void exchange_parts(Index n, R* __restrict x, R* __restrict y) {
  for (Index i = 0; i < n; ++i) std::swap(x[i], y[i]);
}

TESSERA_FMA_CLONES void exchange(Index n, float* x, float* y) { exchange_parts(n, x, y); }
TESSERA_FMA_CLONES void exchange(Index n, double* x, double* y) { exchange_parts(n, x, y); }

#define TESSERA_UPDATES(R)                                                                                             \
  TESSERA_NEAR_AND_FAR(void, add_parts, (R alpha, const Strided<const R>& x, const Strided<R>& y),                     \
                       { add_real(alpha, x, y); })                                                                     \
  TESSERA_NEAR_AND_FAR(void, add_numbers, (R re, R im, const Strided<const R>& x, const Strided<R>& y),                \
                       { add_complex(re, im, x, y); })                                                                 \
  TESSERA_NEAR_AND_FAR(void, scale_parts, (R alpha, const Strided<R>& x), { scale_real(alpha, x); })                   \
  TESSERA_NEAR_AND_FAR(void, scale_numbers, (R re, R im, const Strided<R>& x), { scale_complex(re, im, x); })          \
  TESSERA_NEAR_AND_FAR(void, transform_parts, (const PairMatrix<R>& matrix, const Strided<R>& x, const Strided<R>& y), \
                       { transform_real(matrix, x, y); })
TESSERA_UPDATES(float)
TESSERA_UPDATES(double)
#undef TESSERA_UPDATES

/// Calls work(x, y) for parts of vectors, once where they lie side by side, and else for part 0 and for part 1 of all
/// numbers.
template <class N, class Work>
void for_parts(const Strided<N>& x, const Work& work) {
  using R = RealOf<N>;
  constexpr Index parts = Parts<N>::count;
  if (x.is_contiguous()) return work(Strided<R>{parts_of(x.first), x.size * parts, 1});
  for (Index part = 0; part < parts; ++part) work(Strided<R>{parts_of(x.first) + part, x.size, x.step * parts});
}
template <class M, class N, class Work>
void for_parts(const Strided<M>& x, const Strided<N>& y, const Work& work) {
  using R = RealOf<N>;
  constexpr Index parts = Parts<N>::count;
  auto* const from = parts_of(x.first);
  using From = std::remove_pointer_t<std::remove_const_t<decltype(from)>>;
  if (x.is_contiguous() && y.is_contiguous())
    return work(Strided<From>{from, x.size * parts, 1}, Strided<R>{parts_of(y.first), y.size * parts, 1});
  for (Index part = 0; part < parts; ++part)
    work(Strided<From>{from + part, x.size, x.step * parts},
         Strided<R>{parts_of(y.first) + part, y.size, y.step * parts});
}

/// The parts of complex numbers: the steps count parts.
template <class R>
Strided<R> doubled(const Strided<ComplexNumber<R>>& x) {
  return {parts_of(x.first), x.size, 2 * x.step};
}
template <class R>
Strided<const R> doubled(const Strided<const ComplexNumber<R>>& x) {
  return {parts_of(x.first), x.size, 2 * x.step};
}

} // namespace

template <class N>
void copy(const Strided<const N>& x, const Strided<N>& y) noexcept {
  if (x.size <= 0) return;
  if (x.is_contiguous() && y.is_contiguous()) {
    std::copy(x.first, x.first + x.size, y.first);
    return;
  }
  for (Index i = 0; i < x.size; ++i) y[i] = x[i];
}

template <class N>
void swap(const Strided<N>& x, const Strided<N>& y) noexcept {
  if (x.is_contiguous() && y.is_contiguous())
    exchange(x.size * Parts<N>::count, parts_of(x.first), parts_of(y.first));
  else
    for (Index i = 0; i < x.size; ++i) std::swap(x[i], y[i]);
}

template <class N>
void axpy(const N& alpha, const Strided<const N>& x, const Strided<N>& y) noexcept {
  using R = RealOf<N>;
  const bool far = are_far(2 * x.size * static_cast<Index>(sizeof(N)));
  const detail::ContractArithmetic contract;
  const R re = parts_of(&alpha)[0];
  if constexpr (has_two_parts<N>)
    if (alpha.im != 0)
      return far ? add_numbers_far(re, alpha.im, doubled(x), doubled(y))
                 : add_numbers_near(re, alpha.im, doubled(x), doubled(y));
  if (re == 0) return;
  for_parts(x, y, [=](const auto& from, const auto& to) {
    far ? add_parts_far(re, Strided<const R>{from.first, from.size, from.step}, to)
        : add_parts_near(re, Strided<const R>{from.first, from.size, from.step}, to);
  });
}

template <class N>
void scal(const N& alpha, const Strided<N>& x) noexcept {
  using R = RealOf<N>;
  const bool far = are_far(x.size * static_cast<Index>(sizeof(N)));
  const detail::ContractArithmetic contract;
  const R re = parts_of(&alpha)[0];
  if constexpr (has_two_parts<N>)
    if (alpha.im != 0)
      return far ? scale_numbers_far(re, alpha.im, doubled(x)) : scale_numbers_near(re, alpha.im, doubled(x));
  for_parts(x, [=](const Strided<R>& parts) { far ? scale_parts_far(re, parts) : scale_parts_near(re, parts); });
}

template <class N>
void transform(const PairMatrix<RealOf<N>>& matrix, const Strided<N>& x, const Strided<N>& y) noexcept {
  const detail::ContractArithmetic contract;
  const bool far = are_far(2 * x.size * static_cast<Index>(sizeof(N)));
  for_parts(x, y, [&](const auto& left, const auto& right) {
    far ? transform_parts_far(matrix, left, right) : transform_parts_near(matrix, left, right);
  });
}

#define TESSERA_INSTANTIATE(N)                                                                            \
  template TESSERA_API_INSTANCE void copy(const Strided<const N>&, const Strided<N>&) noexcept;           \
  template TESSERA_API_INSTANCE void swap(const Strided<N>&, const Strided<N>&) noexcept;                 \
  template TESSERA_API_INSTANCE void axpy(const N&, const Strided<const N>&, const Strided<N>&) noexcept; \
  template TESSERA_API_INSTANCE void scal(const N&, const Strided<N>&) noexcept;                          \
  template TESSERA_API_INSTANCE void transform(const PairMatrix<RealOf<N>>&, const Strided<N>&,           \
                                               const Strided<N>&) noexcept;
TESSERA_INSTANTIATE(float)
TESSERA_INSTANTIATE(double)
TESSERA_INSTANTIATE(ComplexNumber<float>)
TESSERA_INSTANTIATE(ComplexNumber<double>)
#undef TESSERA_INSTANTIATE

} // namespace tessera::vectors
