#pragma once

/// What the programs of ScaLAPACK in these tests share: names, numbers that every process knows, matrices that are
/// dealt to a context, and sums as Tessera's contract defines them.

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

extern "C" {
// BLACS and ScaLAPACK have no headers of their own.
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int cols);
void Cblacs_gridinfo(int context, int* rows, int* cols, int* row, int* col);
void Cblacs_gridexit(int context);
int numroc_(const int* n, const int* block, const int* coordinate, const int* source, const int* count);
}

namespace scalapack {

inline constexpr int zero = 0, one = 1;

/// Makes a context of 2×2 processes.
inline int make_context(const char* order) {
  int context = 0;
  Cblacs_get(-1, 0, &context);
  Cblacs_gridinit(&context, order, 2, 2);
  return context;
}

/// Returns a number from −1 to 1. Matrices of such numbers are far from singular.
inline double element(int seed, int i, int j) {
  auto x = static_cast<std::uint32_t>(seed) * 0x9E3779B9u ^ static_cast<std::uint32_t>(i) * 0x85EBCA6Bu ^
           static_cast<std::uint32_t>(j) * 0xC2B2AE35u;
  for (const std::uint32_t factor : {0x7FEB352Du, 0x846CA68Bu}) x = (x ^ x >> 15) * factor;
  return (x ^ x >> 16) / 2147483648.0 - 1;
}

template <class T>
inline constexpr bool is_complex = !std::is_arithmetic_v<T>;

/// Returns the element (i, j) of a matrix, which its seed determines.
template <class T>
T number(int seed, int i, int j) {
  if constexpr (is_complex<T>)
    return {number<typename T::value_type>(seed, i, j), number<typename T::value_type>(seed + 40, i, j)};
  else
    return static_cast<T>(element(seed, i, j));
}

/// A matrix over the processes of a context.
template <class T>
struct Dealt {
  int rows, cols, row_block, col_block;
  int p = 0, q = 0, row = 0, col = 0;
  int local_rows = 0, local_cols = 0;
  std::array<int, 9> descriptor{};
  std::vector<T> data;

  Dealt(int m, int n, int mb, int nb, int seed, int context) : rows(m), cols(n), row_block(mb), col_block(nb) {
    Cblacs_gridinfo(context, &p, &q, &row, &col);
    local_rows = numroc_(&m, &mb, &row, &zero, &p);
    local_cols = numroc_(&n, &nb, &col, &zero, &q);
    descriptor = {1, context, m, n, mb, nb, 0, 0, std::max(1, local_rows)};
    data.resize(static_cast<std::size_t>(local_rows) * static_cast<std::size_t>(local_cols));
    each([&](int i, int j, T& x) { x = number<T>(seed, i, j); });
  }

  /// Returns the row of the whole matrix that a local row is.
  int global_row(int local) const { return (local / row_block * p + row) * row_block + local % row_block; }

  /// Calls visit(i, j, element) for this process's elements, with their places in the whole matrix.
  template <class Visit>
  void each(Visit&& visit) {
    for (int j = 0; j < local_cols; ++j)
      for (int i = 0; i < local_rows; ++i)
        visit(global_row(i), (j / col_block * q + col) * col_block + j % col_block,
              data[static_cast<std::size_t>(i) + static_cast<std::size_t>(j) * static_cast<std::size_t>(local_rows)]);
  }
};

/// Returns the sum of a(l)·b(l) by the contract: chains of 1024 fused multiply-adds, added in ascending order.
template <class T, class A, class B>
T sum_by_contract(int k, A&& a, B&& b) {
  T total = 0;
  for (int first = 0; first < k; first += 1024) {
    T chain = 0;
    for (int l = first; l < std::min(first + 1024, k); ++l) chain = std::fma(a(l), b(l), chain);
    total = first == 0 ? chain : total + chain;
  }
  return total;
}

/// Returns the complex sum by the contract for column-major matrices: segments of 512, in which the number of op(B) is
/// the first factor.
template <class T, class A, class B>
std::complex<T> complex_sum_by_contract(int k, A&& a, B&& b) {
  std::complex<T> total = 0;
  for (int first = 0; first < k; first += 512) {
    T re = 0, im = 0;
    for (int l = first; l < std::min(first + 512, k); ++l) {
      const std::complex<T> x = b(l), y = a(l);
      re = std::fma(x.imag(), -y.imag(), std::fma(x.real(), y.real(), re));
      im = std::fma(x.imag(), y.real(), std::fma(x.real(), y.imag(), im));
    }
    total = first == 0 ? std::complex(re, im) : total + std::complex(re, im);
  }
  return total;
}

} // namespace scalapack
