#include "inverse_model.hpp"

#include <algorithm>

#include "extensions/linear_algebra/model_products.hpp"

namespace tessera::linear_algebra {
namespace {

template <class T>
Grid<T> grid_of(Op stored, Block<T> a) {
  const Grid<T> grid{a.data, a.ld};
  return stored == Op::None ? grid : grid.transposed();
}

/// Returns the chain of the terms x(k)·y(k), or y(k)·x(k) where the memory holds the transposes.
template <class T>
T chain_of(Op stored, T chain, Index count, Run<T> x, Run<T> y) {
  return stored == Op::None ? extend_chain(chain, count, x, y) : extend_chain(chain, count, y, x);
}

} // namespace

/// Row i is written when rows above it are inverted, from its first element on: x(i, j) takes the place of t(i, j),
/// which the elements after it do not need.
template <class T>
void model_invert(Op stored, Index n, bool has_unit_diagonal, Block<T> block) {
  const Grid<T> a = grid_of(stored, block);
  for (Index i = 0; i < n; ++i) {
    const Divisor<T> divisor(has_unit_diagonal ? T(1) : a.at(i, i));
    for (Index j = 0; j < i; ++j) {
      T x = 0;
      for (Index k = j; k < i;) {
        const Index end = std::min(i, (k / segment_length<T> + 1) * segment_length<T>);
        const bool has_one = k == j && has_unit_diagonal; // x(j, j), which is not stored
        const T chain = has_one ? T(0) + a.at(i, j) : T(0);
        const Index first = k + has_one;
        x -= first == end ? chain
                          : chain_of(stored, chain, end - first, Run<T>{&a.at(i, first), a.of_column},
                                     Run<T>{&a.at(first, j), a.of_row});
        k = end;
      }
      a.at(i, j) = has_unit_diagonal ? x : divisor.divide(x);
    }
    if (!has_unit_diagonal) a.at(i, i) = divisor.divide(T(1));
  }
}

/// An element is written when the ones before it in its row are, and needs none of them.
template <class T>
void model_square(Op stored, Index n, Block<T> block) {
  const Grid<T> a = grid_of(stored, block);
  for (Index i = 0; i < n; ++i) a.at(i, i) = real_part(a.at(i, i));
  for (Index i = 0; i < n; ++i)
    for (Index j = i; j < n; ++j) {
      const Run<T> x{&a.at(i, j), a.of_column}, y{&a.at(j, j), a.of_column, is_complex<T>};
      OrderedSum<T> sum;
      stored == Op::None ? sum.add(j, n - j, x, y) : sum.add(j, n - j, y, x);
      a.at(i, j) = i == j ? real_part(sum.value()) : sum.value();
    }
}

template <class T>
void model_solve_by_l(Op stored, Index n, Block<T> block, T* work) {
  const Grid<T> a = grid_of(stored, block);
  for (Index j = n - 1; j >= 0; --j) {
    for (Index k = j + 1; k < n; ++k) {
      work[k] = a.at(k, j);
      a.at(k, j) = 0;
    }
    for (Index i = 0; i < n; ++i) {
      T& x = a.at(i, j);
      for (Index last = n; last > j + 1; last -= segment_length<T>) { // counted from the last column
        const Index count = std::min(segment_length<T>, last - j - 1);
        x -= chain_of(stored, T(0), count, Run<T>{&a.at(i, last - 1), -a.of_column}, Run<T>{work + last - 1, -1});
      }
    }
  }
}

#define TESSERA_INSTANTIATE(T)                           \
  template void model_invert(Op, Index, bool, Block<T>); \
  template void model_square(Op, Index, Block<T>);       \
  template void model_solve_by_l(Op, Index, Block<T>, T*);
TESSERA_INSTANTIATE(float)
TESSERA_INSTANTIATE(double)
TESSERA_INSTANTIATE(std::complex<float>)
TESSERA_INSTANTIATE(std::complex<double>)
#undef TESSERA_INSTANTIATE

} // namespace tessera::linear_algebra
