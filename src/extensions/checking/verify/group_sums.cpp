#include "group_sums.hpp"

#include <cmath>

#include "reference/fma_clones.hpp"

namespace tessera::verify {
namespace {

template <class T>
[[gnu::always_inline]] inline void add_piece(const T* __restrict x, const T* __restrict weights, Index cols,
                                             T* __restrict sums, T* __restrict sizes) {
  constexpr Index step = chains * lanes;
  T sum[step] = {}, size[step] = {};
  Index j = 0;
  for (; j + step <= cols; j += step)
    for (Index v = 0; v < step; ++v) {
      const T part = x[j + v] * weights[j + v];
      sum[v] += part;
      size[v] += std::abs(part);
    }
  for (Index v = 0; j < cols; ++j, ++v) {
    const T part = x[j] * weights[j];
    sum[v] += part;
    size[v] += std::abs(part);
  }
  for (Index v = 0; v < lanes; ++v) {
    sums[v] += (sum[v] + sum[v + lanes]) + (sum[v + 2 * lanes] + sum[v + 3 * lanes]);
    sizes[v] += (size[v] + size[v + lanes]) + (size[v + 2 * lanes] + size[v + 3 * lanes]);
  }
}

template <class T>
[[gnu::always_inline]] inline void add_columns(const T* __restrict x, Index ld, const T* __restrict weights, Index cols,
                                               Index rows, T* __restrict sums, T* __restrict sizes) {
  Index j = 0;
  for (; j + chains * lanes <= cols; j += chains * lanes)
    for (Index g = 0; g < lanes; ++g) { // four columns of a group at a time
      const T* const columns = x + (j + g) * ld;
      const T* const weight = weights + j + g;
      T* const sum = sums + g * rows;
      T* const size = sizes + g * rows;
      for (Index r = 0; r < rows; ++r) {
        const T first = columns[r] * weight[0], second = columns[lanes * ld + r] * weight[lanes];
        const T third = columns[2 * lanes * ld + r] * weight[2 * lanes];
        const T fourth = columns[3 * lanes * ld + r] * weight[3 * lanes];
        sum[r] += (first + second) + (third + fourth);
        size[r] += (std::abs(first) + std::abs(second)) + (std::abs(third) + std::abs(fourth));
      }
    }
  for (; j < cols; ++j) {
    const T weight = weights[j];
    const T* const column = x + j * ld;
    T* const sum = sums + j % lanes * rows;
    T* const size = sizes + j % lanes * rows;
    for (Index r = 0; r < rows; ++r) {
      const T part = column[r] * weight;
      sum[r] += part;
      size[r] += std::abs(part);
    }
  }
}

} // namespace

TESSERA_WIDE_CLONES void add_stored_columns(const float* x, Index ld, const float* weights, Index cols, Index rows,
                                            float* sums, float* sizes) {
  add_columns(x, ld, weights, cols, rows, sums, sizes);
}
TESSERA_WIDE_CLONES void add_stored_columns(const double* x, Index ld, const double* weights, Index cols, Index rows,
                                            double* sums, double* sizes) {
  add_columns(x, ld, weights, cols, rows, sums, sizes);
}
TESSERA_WIDE_CLONES void add_groups(const float* x, const float* weights, Index cols, float* sums, float* sizes) {
  add_piece(x, weights, cols, sums, sizes);
}
TESSERA_WIDE_CLONES void add_groups(const double* x, const double* weights, Index cols, double* sums, double* sizes) {
  add_piece(x, weights, cols, sums, sizes);
}

} // namespace tessera::verify
