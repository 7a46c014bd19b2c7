#include "substitution.hpp"

#include "numbers.hpp"
#include "reference/fma_clones.hpp"
#include "transpose.hpp"

namespace tessera::linear_algebra {
namespace {

/// The lines that are taken at once: enough vectors to hide the latency of a chain's multiply-adds. Their numbers i lie
/// side by side, first all real parts and then all imaginary ones.
template <class T>
constexpr Index strip_lines = Index{256} / static_cast<Index>(sizeof(Part<T>));
template <class T>
constexpr Index strip_row = strip_lines<T>* Number<T>::parts;

/// The chains of all lanes go on with t and x.
template <First first, class T>
[[gnu::always_inline]] inline void extend_lines(const T& t, const Part<T>* x, Part<T>* sum) {
  constexpr Index count = strip_lines<T>;
  if constexpr (is_complex<T>) {
    const Part<T>* const parts = reinterpret_cast<const Part<T>*>(&t);
    const Part<T> re = parts[0], im = parts[1];
    for (Index l = 0; l < count; ++l) sum[l] = std::fma(re, x[l], sum[l]);
    for (Index l = 0; l < count; ++l) sum[l] = std::fma(-im, x[count + l], sum[l]);
    if constexpr (first == First::Triangle)
      for (Index l = 0; l < count; ++l) sum[count + l] = std::fma(re, x[count + l], sum[count + l]);
    for (Index l = 0; l < count; ++l) sum[count + l] = std::fma(im, x[l], sum[count + l]);
    if constexpr (first == First::Line)
      for (Index l = 0; l < count; ++l) sum[count + l] = std::fma(re, x[count + l], sum[count + l]);
  } else {
    for (Index l = 0; l < count; ++l) sum[l] = std::fma(t, x[l], sum[l]);
  }
}

template <class T>
[[gnu::always_inline]] inline void divide_lines(const Divisor<T>& divisor, Part<T>* x) {
  if constexpr (is_complex<T>) {
    if (!divisor.is_real) {
      for (Index l = 0; l < strip_lines<T>; ++l) divisor.divide(x[l], x[strip_lines<T> + l]);
      return;
    }
  }
  for (Index l = 0; l < strip_row<T>; ++l) x[l] /= divisor.real;
}

/// A triangle whose divisors are known.
template <class T>
struct Divided {
  const TriangleBlock<T>& triangle;
  const Divisor<T>* divisors;
};

/// Forward substitution, whose chains are of different lines and so independent.
template <First first, class T>
[[gnu::always_inline]] inline void substitute(const Divided<T>& by, Part<T>* __restrict x,
                                              const Part<T>* __restrict s) {
  constexpr Index width = strip_row<T>;
  const TriangleBlock<T>& triangle = by.triangle;
  for (Index i = 0; i < triangle.size; ++i) {
    const T* const row = triangle.t + i * triangle.ld;
    Part<T> sum[width];
    for (Index l = 0; l < width; ++l) sum[l] = s[i * width + l];
    for (Index k = 0; k < i; ++k) extend_lines<first>(row[k], x + k * width, sum);
    for (Index l = 0; l < width; ++l) x[i * width + l] -= sum[l];
    if (!triangle.has_unit_diagonal) divide_lines(by.divisors[i], x + i * width);
  }
}

/// From the last row on, so that each row finds what it multiplies.
template <First first, class T>
[[gnu::always_inline]] inline void multiply_by(const TriangleBlock<T>& triangle, Part<T>* __restrict x,
                                               const Part<T>* __restrict s) {
  constexpr Index width = strip_row<T>;
  for (Index i = triangle.size - 1; i >= 0; --i) {
    const T* const row = triangle.t + i * triangle.ld;
    Part<T> sum[width];
    for (Index l = 0; l < width; ++l) sum[l] = s[i * width + l];
    for (Index k = 0; k < i; ++k) extend_lines<first>(row[k], x + k * width, sum);
    if (triangle.has_unit_diagonal)
      for (Index l = 0; l < width; ++l) sum[l] += x[i * width + l];
    else
      extend_lines<first>(row[i], x + i * width, sum);
    for (Index l = 0; l < width; ++l) x[i * width + l] = sum[l];
  }
}

// A function for each type, because templates have no clones.
#define TESSERA_STRIPS(T)                                                                                             \
  TESSERA_WIDE_CLONES void solve_strip(First first, const Divided<T>& triangle, Part<T>* x, const Part<T>* s) {       \
    first == First::Triangle ? substitute<First::Triangle>(triangle, x, s) : substitute<First::Line>(triangle, x, s); \
  }                                                                                                                   \
  TESSERA_WIDE_CLONES void multiply_strip(First first, const TriangleBlock<T>& triangle, Part<T>* x,                  \
                                          const Part<T>* s) {                                                         \
    first == First::Triangle ? multiply_by<First::Triangle>(triangle, x, s)                                           \
                             : multiply_by<First::Line>(triangle, x, s);                                              \
  }
TESSERA_STRIPS(float)
TESSERA_STRIPS(double)
TESSERA_STRIPS(std::complex<float>)
TESSERA_STRIPS(std::complex<double>)
#undef TESSERA_STRIPS

/// Copies the numbers of `count` lines into a strip; lanes beyond them are 0.
template <class T>
void load(const T* from, Place place, Index size, Index count, Part<T>* strip) {
  if constexpr (!is_complex<T>)
    if (place.of_number == 1) transpose_block(count, size, from, place.of_line, strip, strip_row<T>);
  for (Index i = 0; i < size; ++i, strip += strip_row<T>) {
    for (Index l = 0; l < count && (is_complex<T> || place.of_line == 1); ++l) {
      const auto* const parts = reinterpret_cast<const Part<T>*>(from + place(l, i));
      for (Index p = 0; p < Number<T>::parts; ++p) strip[p * strip_lines<T> + l] = parts[p];
    }
    for (Index p = 0; p < Number<T>::parts; ++p)
      std::fill(strip + p * strip_lines<T> + count, strip + (p + 1) * strip_lines<T>, Part<T>(0));
  }
}
template <class T>
void store(const Part<T>* strip, Index size, Index count, T* to, Place place) {
  if constexpr (!is_complex<T>)
    if (place.of_number == 1) return transpose_block(size, count, strip, strip_row<T>, to, place.of_line);
  for (Index i = 0; i < size; ++i, strip += strip_row<T>)
    for (Index l = 0; l < count; ++l) {
      auto* const parts = reinterpret_cast<Part<T>*>(to + place(l, i));
      for (Index p = 0; p < Number<T>::parts; ++p) parts[p] = strip[p * strip_lines<T> + l];
    }
}

/// Calls work(x, s) for strips of lines.
template <class T, class Work>
void for_strips(Index size, Index count, T* x, Place place_x, const T* s, Place place_s, const Work& work) {
  alignas(64) Part<T> values[panel_width * strip_row<T>];
  alignas(64) Part<T> sums[panel_width * strip_row<T>];
  for (Index first = 0; first < count; first += strip_lines<T>) {
    const Index here = std::min(strip_lines<T>, count - first);
    load(x + place_x(first, 0), place_x, size, here, values);
    load(s + place_s(first, 0), place_s, size, here, sums);
    work(values, sums);
    store(values, size, here, x + place_x(first, 0), place_x);
  }
}

template <class T>
void multiply_lines(First first, const TriangleBlock<T>& triangle, Index count, T* x, Place place_x, const T* s,
                    Place place_s) {
  for_strips(triangle.size, count, x, place_x, s, place_s,
             [&](Part<T>* values, const Part<T>* sums) { multiply_strip(first, triangle, values, sums); });
}

} // namespace

template <class T>
void solve_lines(First first, const TriangleBlock<T>& triangle, Index count, T* x, Place place_x, const T* s,
                 Place place_s) {
  Divisor<T> divisors[panel_width];
  for (Index i = 0; i < triangle.size && !triangle.has_unit_diagonal; ++i)
    divisors[i] = Divisor<T>(triangle.t[i * triangle.ld + i]);
  for_strips(triangle.size, count, x, place_x, s, place_s, [&](Part<T>* values, const Part<T>* sums) {
    solve_strip(first, Divided<T>{triangle, divisors}, values, sums);
  });
}

template <class T>
void solve_columns(const TriangleBlock<T>& triangle, Index count, T* x, Index ldx, const T* s, Index lds) {
  solve_lines(First::Triangle, triangle, count, x, Place{1, ldx}, s, Place{1, lds});
}
template <class T>
void solve_rows(const TriangleBlock<T>& triangle, Index count, T* x, Index ldx, const T* s, Index lds) {
  solve_lines(First::Line, triangle, count, x, Place{ldx, 1}, s, Place{lds, 1});
}
template <class T>
void multiply_columns(const TriangleBlock<T>& triangle, Index count, T* x, Index ldx, const T* s, Index lds) {
  multiply_lines(First::Triangle, triangle, count, x, Place{1, ldx}, s, Place{1, lds});
}
template <class T>
void multiply_rows(const TriangleBlock<T>& triangle, Index count, T* x, Index ldx, const T* s, Index lds) {
  multiply_lines(First::Line, triangle, count, x, Place{ldx, 1}, s, Place{lds, 1});
}

#define TESSERA_INSTANTIATE(T)                                                                  \
  template void solve_lines(First, const TriangleBlock<T>&, Index, T*, Place, const T*, Place); \
  template void solve_columns(const TriangleBlock<T>&, Index, T*, Index, const T*, Index);      \
  template void solve_rows(const TriangleBlock<T>&, Index, T*, Index, const T*, Index);         \
  template void multiply_columns(const TriangleBlock<T>&, Index, T*, Index, const T*, Index);   \
  template void multiply_rows(const TriangleBlock<T>&, Index, T*, Index, const T*, Index);
TESSERA_INSTANTIATE(float)
TESSERA_INSTANTIATE(double)
TESSERA_INSTANTIATE(std::complex<float>)
TESSERA_INSTANTIATE(std::complex<double>)
#undef TESSERA_INSTANTIATE

} // namespace tessera::linear_algebra
