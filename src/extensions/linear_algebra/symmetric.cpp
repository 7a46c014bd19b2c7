#include "symmetric.hpp"

#include <algorithm>

namespace tessera::linear_algebra {
namespace {

/// The rows of a block on the diagonal, half of which is computed in vain. No bit depends on it.
constexpr Index block_size = 64;

/// Copies the triangle of a block, whose other half is not touched.
template <class T>
void copy_triangle(Triangle triangle, Index n, Block<const T> from, Block<T> to) {
  for (Index i = 0; i < n; ++i) {
    const Index begin = triangle == Triangle::Lower ? 0 : i, end = triangle == Triangle::Lower ? i + 1 : n;
    std::copy(from.at(i, begin), from.at(i, end), to.at(i, begin));
  }
}

template <class T>
void diagonal_block(const Products<T>& products, Triangle triangle, Index n, Index k, T alpha, Factor<T> a, T beta,
                    Block<T> c) {
  T memory[block_size * block_size] = {};
  const Block<T> scratch{memory, block_size};
  if (beta != 0) copy_triangle<T>(triangle, n, c, scratch);
  products.multiply(alpha, n, n, k, a, a.transposed(), beta, scratch);
  copy_triangle<T>(triangle, n, scratch, c);
}

} // namespace

template <class T>
void symmetric_product(const Products<T>& products, Triangle triangle, Index n, Index k, T alpha, Factor<T> a, T beta,
                       Block<T> c) {
  if (n <= block_size) return diagonal_block(products, triangle, n, k, alpha, a, beta, c);
  const Index half = (n / 2 + block_size - 1) / block_size * block_size;
  const Factor<T> below = a.from(half, 0);
  symmetric_product(products, triangle, half, k, alpha, a, beta, c);
  if (triangle == Triangle::Lower)
    products.multiply(alpha, n - half, half, k, below, a.transposed(), beta, c.from(half, 0));
  else
    products.multiply(alpha, half, n - half, k, a, below.transposed(), beta, c.from(0, half));
  symmetric_product(products, triangle, n - half, k, alpha, below, beta, c.from(half, half));
}

template void symmetric_product(const Products<float>&, Triangle, Index, Index, float, Factor<float>, float,
                                Block<float>);
template void symmetric_product(const Products<double>&, Triangle, Index, Index, double, Factor<double>, double,
                                Block<double>);

} // namespace tessera::linear_algebra
