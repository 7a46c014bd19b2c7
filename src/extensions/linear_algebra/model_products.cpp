#include "model_products.hpp"

namespace tessera::linear_algebra {
namespace {

template <class T>
Run<T> row_of(const Lines<T>& lines, Index i, Index k) {
  return {&lines.m.at(i, k), lines.m.of_column, lines.conjugate};
}
template <class T>
Run<T> line_of(const Lines<T>& lines, Index k, Index l) {
  return {&lines.x.at(k, l), lines.x.of_row};
}

/// Returns a − s, where s are the sums of segments of m·x, k = 0 … i − 1.
template <class T>
T less_sums(T a, const Lines<T>& lines, Index i, Index l) {
  for (Index first = 0; first < i; first += segment_length<T>) {
    const Index count = std::min(segment_length<T>, i - first);
    const Run<T> m = row_of(lines, i, first), x = line_of(lines, first, l);
    a -= lines.side == Side::Left ? extend_chain(T(0), count, m, x) : extend_chain(T(0), count, x, m);
  }
  return a;
}

/// Returns the sum of m(i, k)·x(k, l) over the triangle's k.
template <class T>
T triangle_sum(Triangle triangle, const Lines<T>& lines, Index i, Index l) {
  OrderedSum<T> sum;
  const auto add = [&](Index first, Index end) {
    if (first >= end) return;
    const Run<T> m = row_of(lines, i, first), x = line_of(lines, first, l);
    lines.side == Side::Left ? sum.add(first, end - first, m, x) : sum.add(first, end - first, x, m);
  };
  const auto diagonal = [&] { lines.has_unit_diagonal ? sum.add_one(i, lines.x.at(i, l)) : add(i, i + 1); };
  if (triangle == Triangle::Lower) add(0, i);
  diagonal();
  if (triangle == Triangle::Upper) add(i + 1, lines.n);
  return sum.value();
}

} // namespace

template <class T>
void model_solve(const Lines<T>& lines) {
  for (Index l = 0; l < lines.count; ++l)
    for (Index i = 0; i < lines.n; ++i) {
      T& x = lines.x.at(i, l);
      x = less_sums(x, lines, i, l);
      if (!lines.has_unit_diagonal) x = Divisor<T>(row_of(lines, i, i).at(0)).divide(x);
    }
}

template <class T>
void model_multiply(Triangle triangle, T alpha, const Lines<T>& lines) {
  for (Index l = 0; l < lines.count; ++l)
    for (Index done = 0; done < lines.n; ++done) { // each row after the ones that read it
      const Index i = triangle == Triangle::Lower ? lines.n - 1 - done : done;
      lines.x.at(i, l) = scaled(alpha, triangle_sum(triangle, lines, i, l));
    }
}

template <class T>
void model_symmetric(Side side, Index m, Index n, T alpha, const HalfStored<T>& a, Block<const T> b, T beta,
                     Block<T> c) {
  const bool is_left = side == Side::Left;
  const bool is_lower = a.triangle == Triangle::Lower;
  for (Index i = 0; i < m; ++i)
    for (Index j = 0; j < n; ++j) {
      const Index line = is_left ? i : j; // row i of A, or column j
      const T diagonal = a.at(line, line);
      // What is stored in row `line` is a row of A, and what is stored in that column is the other part of this row.
      const bool rows = a.is_hermitian && !is_left, columns = a.is_hermitian && is_left;
      const Run<T> before =
          is_lower ? Run<T>{a.stored.at(line, 0), 1, rows} : Run<T>{a.stored.at(0, line), a.stored.ld, columns};
      const Run<T> after = is_lower ? Run<T>{a.stored.at(line, line) + a.stored.ld, a.stored.ld, columns}
                                    : Run<T>{a.stored.at(line, line) + 1, 1, rows};
      OrderedSum<T> sum;
      const auto add = [&](Index first, Index count, const Run<T>& x) {
        const Run<T> y = is_left ? Run<T>{b.at(first, j), b.ld} : Run<T>{b.at(i, first)};
        if (count == 0) return;
        is_left ? sum.add(first, count, x, y) : sum.add(first, count, y, x);
      };
      if (alpha != T(0)) {
        add(0, line, before);
        add(line, 1, {&diagonal});
        add(line + 1, a.n - line - 1, after);
      }
      T& to = *c.at(i, j);
      to = alpha == T(0) ? scaled_by(beta, to) : finished(alpha, sum.value(), beta, to);
    }
}

template <class T>
void model_triangle(const TriangleOf<T>& to, Index k, T alpha, Factor<T> a, Factor<T> b, T beta) {
  for (Index i = 0; i < to.n; ++i)
    for (Index j = to.begin(i); j < to.end(i); ++j) {
      T& c = *to.c.at(i, j);
      if (k == 0 || alpha == T(0)) {
        c = scaled_by(beta, c);
      } else {
        OrderedSum<T> sum;
        sum.add(0, k, a.row(i, 0), b.column(0, j));
        c = finished(alpha, sum.value(), beta, c);
      }
      if (to.is_hermitian && i == j) c = real_part(c);
    }
}

#define TESSERA_INSTANTIATE(T)                                                                             \
  template void model_solve(const Lines<T>&);                                                              \
  template void model_multiply(Triangle, T, const Lines<T>&);                                              \
  template void model_symmetric(Side, Index, Index, T, const HalfStored<T>&, Block<const T>, T, Block<T>); \
  template void model_triangle(const TriangleOf<T>&, Index, T, Factor<T>, Factor<T>, T);
TESSERA_INSTANTIATE(float)
TESSERA_INSTANTIATE(double)
TESSERA_INSTANTIATE(std::complex<float>)
TESSERA_INSTANTIATE(std::complex<double>)
#undef TESSERA_INSTANTIATE

} // namespace tessera::linear_algebra
