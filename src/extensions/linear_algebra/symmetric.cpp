#include "symmetric.hpp"

#include <tessera/linear_algebra/syrk.hpp>

#include <algorithm>
#include <string>

#include <tessera/backend/out_of_memory.hpp>
#include <tessera/detail/floating_point.hpp>
#include <tessera/detail/uncancelled.hpp>

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

namespace {

void refuse(const std::string& why) { throw InvalidArgument("syrk: " + why); }

/// A triangle may share a rectangle with A, as in LAPACK's packed formats: its rows are compared one by one.
void check(const detail::SymmetricCall& call) {
  const auto number = [](Index x) { return std::to_string(x); };
  if (call.type != DType::F32 && call.type != DType::F64) refuse("elements are f32 or f64");
  if (call.op == Op::ConjugateTranspose) refuse("op is None or Transpose, because the matrix is real");
  if (call.n < 0 || call.k < 0)
    refuse("n = " + number(call.n) + " and k = " + number(call.k) + "; neither may be negative");
  const Index rows = call.op == Op::None ? call.n : call.k, cols = call.op == Op::None ? call.k : call.n;
  if (call.lda < std::max<Index>(1, cols))
    refuse("lda = " + number(call.lda) + ", and stored rows of A have " + number(cols) + " elements");
  if (call.ldc < std::max<Index>(1, call.n))
    refuse("ldc = " + number(call.ldc) + ", and rows of C have " + number(call.n) + " elements");
  if (call.n == 0) return;
  if (call.c == nullptr) refuse("c is null");
  if (call.k == 0 || call.alpha == 0) return;
  if (call.a == nullptr) refuse("a is null");
  const std::size_t element = size_of(call.type);
  const StoredRows a{call.a, rows, cols, call.lda, element};
  for (Index i = 0; i < call.n; ++i) {
    const Index first = call.triangle == Triangle::Lower ? 0 : i;
    const Index count = call.triangle == Triangle::Lower ? i + 1 : call.n - i;
    const auto offset = static_cast<std::size_t>(i * call.ldc + first) * element;
    if (overlap({static_cast<const char*>(call.c) + offset, 1, count, call.ldc, element}, a))
      refuse("c overlaps a in memory, in row " + number(i) + "; a is read while c is written");
  }
}

template <class T>
void run(const detail::SymmetricCall& call, const SolveOptions& options, detail::Shortage shortage) {
  const Factor<T> a{{static_cast<const T*>(call.a), call.lda}, call.op};
  const Block<T> c{static_cast<T*>(call.c), call.ldc};
  const T alpha = static_cast<T>(call.alpha), beta = static_cast<T>(call.beta);
  const auto blocked = [&] {
    symmetric_product(Products<T>(options, shortage), call.triangle, call.n, call.k, alpha, a, beta, c);
  };
  const auto by_rows = [&] {
    for (Index i = 0; i < call.n; ++i) {
      const Index begin = call.triangle == Triangle::Lower ? 0 : i;
      const Index count = call.triangle == Triangle::Lower ? i + 1 : call.n - i;
      multiply_without_memory(alpha, 1, count, call.k, a.from(i, 0), a.from(begin, 0).transposed(), beta,
                              c.from(i, begin));
    }
  };
  with_or_without_memory(shortage, blocked, by_rows);
}

} // namespace
} // namespace tessera::linear_algebra

namespace tessera::detail {

void symmetric_product(const SymmetricCall& call, const SolveOptions& options, Shortage shortage) try {
  expect_no_refinement("syrk", options);
  const Uncancelled whole;
  const ContractArithmetic contract;
  linear_algebra::check(call);
  if (call.n == 0) return;
  if (call.type == DType::F32) return linear_algebra::run<float>(call, options, shortage);
  linear_algebra::run<double>(call, options, shortage);
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

} // namespace tessera::detail
