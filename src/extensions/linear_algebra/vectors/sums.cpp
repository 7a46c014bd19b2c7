#include "sums.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include <tessera/detail/floating_point.hpp>

#include "lanes.hpp"
#include "near_far.hpp"

namespace tessera::vectors {
namespace {

template <class A>
[[gnu::always_inline]] inline A fold_lanes(A* lane) {
  static_assert(lanes == 32);
  for (int l = 0; l < 16; ++l) lane[l] += lane[l + 16];
  for (int l = 0; l < 8; ++l) lane[l] += lane[l + 8];
  for (int l = 0; l < 4; ++l) lane[l] += lane[l + 4];
  for (int l = 0; l < 2; ++l) lane[l] += lane[l + 2];
  return lane[0] + lane[1];
}

/// Writes the result of each chunk of n contiguous elements: add(e, lane) adds element e to a lane.
template <class A, class Add>
[[gnu::always_inline]] inline void real_chunks(Index n, A* results, const Add& add) {
  for (Index begin = 0; begin < n; begin += chunk) {
    const Index end = std::min(n, begin + chunk), whole = end - (end - begin) % lanes;
    A lane[lanes] = {};
    for (Index e = begin; e < whole; e += lanes)
      for (int l = 0; l < lanes; ++l) lane[l] = add(e + l, lane[l]);
    for (Index e = whole; e < end; ++e) lane[e - whole] = add(e, lane[e - whole]);
    results[begin / chunk] = fold_lanes(lane);
  }
}

template <bool conjugates, class R>
[[gnu::always_inline]] inline void add_product(const R* x, const R* y, R& re, R& im) {
  const R imaginary = conjugates ? -x[1] : x[1];
  re = std::fma(imaginary, -y[1], std::fma(x[0], y[0], re));
  im = std::fma(imaginary, y[0], std::fma(x[0], y[1], im));
}
template <bool conjugates, class R>
[[gnu::always_inline]] inline void complex_chunks(Index n, const R* x, const R* y, ComplexNumber<R>* results) {
  for (Index begin = 0; begin < n; begin += chunk) {
    const Index end = std::min(n, begin + chunk), whole = end - (end - begin) % lanes;
    R re[lanes] = {}, im[lanes] = {};
    for (Index e = begin; e < whole; e += lanes)
      for (int l = 0; l < lanes; ++l) add_product<conjugates>(x + 2 * (e + l), y + 2 * (e + l), re[l], im[l]);
    for (Index e = whole; e < end; ++e) add_product<conjugates>(x + 2 * e, y + 2 * e, re[e - whole], im[e - whole]);
    results[begin / chunk] = {fold_lanes(re), fold_lanes(im)};
  }
}

#define TESSERA_REAL_CHUNKS(R)                                                                                    \
  TESSERA_NEAR_AND_FAR(void, dot_chunks, (Index n, const R* x, const R* y, R* results),                           \
                       { real_chunks(n, results, [&](Index e, R lane) { return std::fma(x[e], y[e], lane); }); }) \
  TESSERA_WIDE_CLONES void asum_chunks(Index n, const R* x, R* results) {                                         \
    real_chunks(n, results, [&](Index e, R lane) { return lane + std::abs(x[e]); });                              \
  }                                                                                                               \
  TESSERA_NEAR_AND_FAR(void, complex_dot_chunks,                                                                  \
                       (Index n, const R* x, const R* y, bool conj, ComplexNumber<R>* results), {                 \
                         if (conj)                                                                                \
                           complex_chunks<true>(n, x, y, results);                                                \
                         else                                                                                     \
                           complex_chunks<false>(n, x, y, results);                                               \
                       })                                                                                         \
  void dot_chunks(Index n, const R* x, const R* y, bool, R* results, bool far) {                                  \
    far ? dot_chunks_far(n, x, y, results) : dot_chunks_near(n, x, y, results);                                   \
  }                                                                                                               \
  void dot_chunks(Index n, const ComplexNumber<R>* x, const ComplexNumber<R>* y, bool conjugates,                 \
                  ComplexNumber<R>* results, bool far) {                                                          \
    far ? complex_dot_chunks_far(n, parts_of(x), parts_of(y), conjugates, results)                                \
        : complex_dot_chunks_near(n, parts_of(x), parts_of(y), conjugates, results);                              \
  }
TESSERA_REAL_CHUNKS(float)
TESSERA_REAL_CHUNKS(double)
#undef TESSERA_REAL_CHUNKS

TESSERA_WIDE_CLONES void dot_chunks_in_double(Index n, const float* x, const float* y, double* results) {
  real_chunks(n, results, [&](Index e, double lane) {
    return std::fma(static_cast<double>(x[e]), static_cast<double>(y[e]), lane);
  });
}
TESSERA_WIDE_CLONES void square_chunks(Index n, const float* x, double* results) {
  real_chunks(n, results, [&](Index e, double lane) {
    return std::fma(static_cast<double>(x[e]), static_cast<double>(x[e]), lane);
  });
}
TESSERA_WIDE_CLONES void square_chunks(Index n, const double* x, double* results) {
  real_chunks(n, results, [&](Index e, double lane) { return std::fma(x[e], x[e], lane); });
}
TESSERA_WIDE_CLONES void scaled_square_chunks(Index n, const double* x, double scale, double* results) {
  real_chunks(n, results, [&](Index e, double lane) {
    const double scaled = scale * x[e];
    return std::fma(scaled, scaled, lane);
  });
}

/// Calls work(first, x, y, count, results) for what lies side by side of two vectors.
template <class A, class N, class Work>
A sum_of_two(const Strided<const N>& x, const Strided<const N>& y, const Work& work) {
  if (x.size <= 0) return A{};
  if (x.is_contiguous() && y.is_contiguous())
    return sum_of_chunks<A>(
        x.size, [&](Index first, Index count, A* results) { work(count, x.first + first, y.first + first, results); });
  SideBySide<N, chunk> left, right;
  return sum_of_chunks<A>(x.size, [&](Index first, Index count, A* results) {
    for (Index c = 0; c < count; c += chunk, ++results) {
      const Index here = std::min(chunk, count - c);
      work(here, left.of(x, first + c, here), right.of(y, first + c, here), results);
    }
  });
}

/// Sums over the parts of a vector: work(count, parts, results).
template <class A, class N, class Work>
A sum_of_parts(const Strided<const N>& x, const Work& work) {
  if (x.size <= 0) return A{};
  constexpr Index parts = Parts<N>::count, most = chunk / parts;
  if (x.is_contiguous())
    return sum_of_chunks<A>(
        x.size * parts, [&](Index first, Index count, A* results) { work(count, parts_of(x.first) + first, results); });
  SideBySide<N, most> numbers;
  return sum_of_chunks<A>(x.size * parts, [&](Index first, Index count, A* results) {
    for (Index c = 0; c < count; c += chunk, ++results) {
      const Index here = std::min(chunk, count - c) / parts;
      work(here * parts, parts_of(numbers.of(x, (first + c) / parts, here)), results);
    }
  });
}

template <class R>
inline constexpr auto above_all = std::bit_cast<Key<R>>(std::numeric_limits<R>::infinity()) + 1;
template <class R>
[[gnu::always_inline]] inline Key<R> key_of_magnitude(R value) {
  return std::min(std::bit_cast<Key<R>>(value) & std::numeric_limits<Key<R>>::max(), above_all<R>);
}
template <int parts, class R>
[[gnu::always_inline]] inline Key<R> key_at(const R* x, Index i) {
  if constexpr (parts == 1)
    return key_of_magnitude(x[i]);
  else
    return key_of_magnitude(std::abs(x[2 * i]) + std::abs(x[2 * i + 1]));
}
template <int parts, class R>
[[gnu::always_inline]] inline Key<R> largest_key(Index n, const R* x) {
  Key<R> largest = -1;
  for (Index i = 0; i < n; ++i) largest = std::max(largest, key_at<parts>(x, i));
  return largest;
}

#define TESSERA_LARGEST(R)                                                                    \
  TESSERA_WIDE_CLONES Key<R> largest_of(Index n, const R* x) { return largest_key<1>(n, x); } \
  TESSERA_WIDE_CLONES Key<R> largest_of(Index n, const ComplexNumber<R>* x) {                 \
    return largest_key<2>(n, reinterpret_cast<const R*>(x));                                  \
  }
TESSERA_LARGEST(float)
TESSERA_LARGEST(double)
#undef TESSERA_LARGEST

/// The largest magnitude of any part.
template <class N>
RealOf<N> largest_part(const Strided<const N>& x) {
  using R = RealOf<N>;
  Key<R> largest = 0;
  SideBySide<N, chunk> numbers;
  for (Index first = 0; first < x.size; first += chunk) {
    const Index count = std::min(chunk, x.size - first);
    largest = std::max(largest, largest_of(count * Parts<N>::count, parts_of(numbers.of(x, first, count))));
  }
  return std::bit_cast<R>(largest);
}

/// Squares of magnitudes from 2^-480 to 2^480 neither overflow nor lose digits that count, however many there are.
constexpr double largest_unscaled = 0x1p480, smallest_unscaled = 0x1p-480;
constexpr double scale_of_large = 0x1p-600, scale_of_small = 0x1p600;
/// A sum of squares between these bounds says that the largest magnitude needs no scale.
constexpr double surely_not_large = 0x1p950, surely_not_small = 0x1p-890;

/// The norm's definition, after the sum that it has without a scale.
template <class N>
double norm_with_scale(const Strided<const N>& x, double unscaled) {
  const double largest = largest_part(x);
  if (!(largest <= std::numeric_limits<double>::max())) return largest; // Inf; a NaN has been returned
  double scale = 1;
  if (largest > largest_unscaled) scale = scale_of_large;
  if (largest > 0 && largest < smallest_unscaled) scale = scale_of_small;
  if (scale == 1) return std::sqrt(unscaled);
  const double sum = sum_of_parts<double>(
      x, [&](Index n, const double* parts, double* results) { scaled_square_chunks(n, parts, scale, results); });
  return std::sqrt(sum) * (1 / scale);
}

// The functions below are not inlined: their arithmetic is done in the contract's state, whatever the compiler moves.

template <class R>
bool is_one_chunk(Index n) {
  return n <= chunk && takes_wide(n * static_cast<Index>(sizeof(R)));
}

#if TESSERA_HAS_WIDE
#define TESSERA_CHUNK_IN_WIDE(R)                                                                                     \
  TESSERA_WIDE_ENTRY R dot_of_chunk(Index n, const R* x, const R* y) { return chunk_of<Summand::Product>(n, x, y); } \
  TESSERA_WIDE_ENTRY R asum_of_chunk(Index n, const R* x) { return chunk_of<Summand::Magnitude>(n, x, x); }          \
  TESSERA_WIDE_ENTRY Key<R> largest_in_wide(Index n, const R* x) { return largest_bits(n, x); }                      \
  TESSERA_WIDE_ENTRY Index place_in_wide(const R* x, Index n, Key<R> key) { return first_place(x, n, key); }
TESSERA_CHUNK_IN_WIDE(float)
TESSERA_CHUNK_IN_WIDE(double)
#undef TESSERA_CHUNK_IN_WIDE
#else
template <class R>
R dot_of_chunk(Index, const R*, const R*) {
  return {};
}
template <class R>
R asum_of_chunk(Index, const R*) {
  return {};
}
template <class R>
Key<R> largest_in_wide(Index, const R*) {
  return {};
}
template <class R>
Index place_in_wide(const R*, Index, Key<R>) {
  return {};
}
#endif

template <class N>
[[gnu::noinline]] N sum_of_products(const Strided<const N>& x, const Strided<const N>& y, bool conjugates_x) {
  const bool far = are_far(2 * x.size * static_cast<Index>(sizeof(N)));
  return sum_of_two<N>(x, y, [&](Index n, const N* left, const N* right, N* results) {
    dot_chunks(n, left, right, conjugates_x, results, far);
  });
}

[[gnu::noinline]] double double_sum_of_products(const Strided<const float>& x, const Strided<const float>& y) {
  return sum_of_two<double>(x, y, [](Index n, const float* left, const float* right, double* results) {
    dot_chunks_in_double(n, left, right, results);
  });
}
[[gnu::noinline]] float rounded_sum(double sum, const float& b) {
  return static_cast<float>(sum + static_cast<double>(b));
}

template <class N>
[[gnu::noinline]] RealOf<N> sum_of_magnitudes(const Strided<const N>& x) {
  using R = RealOf<N>;
  return sum_of_parts<R>(x, [](Index n, const R* parts, R* results) { asum_chunks(n, parts, results); });
}

template <class N>
[[gnu::noinline]] RealOf<N> norm(const Strided<const N>& x) {
  const double sum = sum_of_parts<double>(
      x, [](Index n, const RealOf<N>* parts, double* results) { square_chunks(n, parts, results); });
  if constexpr (std::is_same_v<RealOf<N>, float>)
    return static_cast<float>(std::sqrt(sum));
  else if ((sum > surely_not_small && sum < surely_not_large) || std::isnan(sum)) [[likely]]
    return std::sqrt(sum);
  else
    return norm_with_scale(x, sum);
}

/// The place of the largest of real numbers side by side.
template <class R>
Index place_in_chunks(const Strided<const R>& x) {
  Key<R> largest = -1;
  Index place = 0;
  for (Index first = 0; first < x.size; first += chunk) {
    const Key<R> here = largest_in_wide(std::min(chunk, x.size - first), x.first + first);
    if (std::min(here, above_all<R>) <= largest) continue;
    largest = std::min(here, above_all<R>);
    place = first;
  }
  return place + place_in_wide(x.first + place, std::min(chunk, x.size - place), largest);
}

template <class N>
[[gnu::noinline]] Index place_of_largest(const Strided<const N>& x) {
  Key<RealOf<N>> largest = -1;
  Index place = -1;
  SideBySide<N, chunk> numbers;
  for (Index first = 0; first < x.size; first += chunk) {
    const Index count = std::min(chunk, x.size - first);
    const auto here = largest_of(count, numbers.of(x, first, count));
    if (here <= largest) continue;
    largest = here;
    place = first;
  }
  if (place < 0) return place;
  constexpr Index few = 64; // numbers that are searched one after another
  while (x.is_contiguous() && place + few < x.size && largest_of(few, &x[place]) != largest) place += few;
  while (key_at<Parts<N>::count>(parts_of(&x[place]), 0) != largest) ++place;
  return place;
}

} // namespace

template <class N>
N dot(const Strided<const N>& x, const Strided<const N>& y, bool conjugates_x) noexcept {
  const detail::ContractArithmetic contract;
  if constexpr (!has_two_parts<N>)
    if (x.is_contiguous() && y.is_contiguous() && is_one_chunk<N>(x.size))
      return dot_of_chunk(x.size, x.first, y.first);
  return sum_of_products(x, y, conjugates_x);
}

double dot_in_double(const Strided<const float>& x, const Strided<const float>& y) noexcept {
  const detail::ContractArithmetic contract;
  return double_sum_of_products(x, y);
}

float dot_rounded_once(float b, const Strided<const float>& x, const Strided<const float>& y) noexcept {
  const detail::ContractArithmetic contract;
  return rounded_sum(double_sum_of_products(x, y), b);
}

template <class N>
RealOf<N> asum(const Strided<const N>& x) noexcept {
  const detail::ContractArithmetic contract;
  const Index parts = x.size * Parts<N>::count;
  if (x.is_contiguous() && is_one_chunk<RealOf<N>>(parts)) return asum_of_chunk(parts, parts_of(x.first));
  return sum_of_magnitudes(x);
}

template <class N>
RealOf<N> nrm2(const Strided<const N>& x) noexcept {
  const detail::ContractArithmetic contract;
  return norm(x);
}

template <class N>
Index iamax(const Strided<const N>& x) noexcept {
  if constexpr (!has_two_parts<N>) // magnitudes are compared as integers, in any floating-point state
    if (x.is_contiguous() && x.size > 0 && has_wide()) return place_in_chunks(x);
  const detail::ContractArithmetic contract;
  return place_of_largest(x);
}

#define TESSERA_INSTANTIATE(N)                                                                          \
  template TESSERA_API_INSTANCE N dot(const Strided<const N>&, const Strided<const N>&, bool) noexcept; \
  template TESSERA_API_INSTANCE RealOf<N> asum(const Strided<const N>&) noexcept;                       \
  template TESSERA_API_INSTANCE RealOf<N> nrm2(const Strided<const N>&) noexcept;                       \
  template TESSERA_API_INSTANCE Index iamax(const Strided<const N>&) noexcept;
TESSERA_INSTANTIATE(float)
TESSERA_INSTANTIATE(double)
TESSERA_INSTANTIATE(ComplexNumber<float>)
TESSERA_INSTANTIATE(ComplexNumber<double>)
#undef TESSERA_INSTANTIATE

} // namespace tessera::vectors
