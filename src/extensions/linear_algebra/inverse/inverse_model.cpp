#include "inverse_model.hpp"

#include <algorithm>

namespace tessera::linear_algebra {
namespace {

/// Row i is written when rows above it are inverted, from its first element on: x(i, j) takes the place of t(i, j),
/// which the elements after it do not need.
template <class T>
void invert(Index n, bool has_unit_diagonal, Grid<T> a) {
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < i; ++j) {
      T x = 0;
      for (Index k = j; k < i;) {
        const Index end = std::min(i, (k / canonical_segment + 1) * canonical_segment);
        const bool has_one = k == j && has_unit_diagonal; // x(j, j), which is not stored
        const T chain = has_one ? T(0) + a.at(i, j) : T(0);
        const Index first = k + has_one;
        x -= first == end ? chain
                          : extend_chain(chain, end - first, Run<T>{&a.at(i, first), a.of_column},
                                         Run<T>{&a.at(first, j), a.of_row});
        k = end;
      }
      a.at(i, j) = has_unit_diagonal ? x : x / a.at(i, i);
    }
    if (!has_unit_diagonal) a.at(i, i) = 1 / a.at(i, i);
  }
}

/// An element is written when the ones before it in its row are, and needs none of them.
template <class T>
void square(Index n, Grid<T> a) {
  for (Index i = 0; i < n; ++i)
    for (Index j = i; j < n; ++j) {
      OrderedSum<T> sum;
      sum.add(j, n - j, {&a.at(i, j), a.of_column}, {&a.at(j, j), a.of_column});
      a.at(i, j) = sum.value();
    }
}

template <class T>
void solve_by_l(Index n, Grid<T> a, T* work) {
  for (Index j = n - 1; j >= 0; --j) {
    for (Index k = j + 1; k < n; ++k) {
      work[k] = a.at(k, j);
      a.at(k, j) = 0;
    }
    for (Index i = 0; i < n; ++i) {
      T& x = a.at(i, j);
      for (Index last = n; last > j + 1; last -= canonical_segment) { // counted from the last column
        const Index count = std::min(canonical_segment, last - j - 1);
        x -= extend_chain(T(0), count, Run<T>{&a.at(i, last - 1), -a.of_column}, Run<T>{work + last - 1, -1});
      }
    }
  }
}

} // namespace

void model_invert(Index n, bool has_unit_diagonal, Grid<float> a) { invert(n, has_unit_diagonal, a); }
void model_invert(Index n, bool has_unit_diagonal, Grid<double> a) { invert(n, has_unit_diagonal, a); }

void model_square(Index n, Grid<float> a) { square(n, a); }
void model_square(Index n, Grid<double> a) { square(n, a); }

void model_solve_by_l(Index n, Grid<float> a, float* work) { solve_by_l(n, a, work); }
void model_solve_by_l(Index n, Grid<double> a, double* work) { solve_by_l(n, a, work); }

} // namespace tessera::linear_algebra
