/// A program of ScaLAPACK that knows nothing of Tessera. It prints how many elements differ from the sums that
/// Tessera's contract defines; under the drop-in none does.

#include <mpi.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstring>
#include <vector>

extern "C" {
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int cols);
void Cblacs_gridinfo(int context, int* rows, int* cols, int* row, int* col);
void Cblacs_gridexit(int context);
void pdgemm_(const char*, const char*, const int*, const int*, const int*, const double*, const double*, const int*,
             const int*, const int*, const double*, const int*, const int*, const int*, const double*, double*,
             const int*, const int*, const int*);
void pzgemm_(const char*, const char*, const int*, const int*, const int*, const void*, const void*, const int*,
             const int*, const int*, const void*, const int*, const int*, const int*, const void*, void*, const int*,
             const int*, const int*);
int numroc_(const int* n, const int* block, const int* coordinate, const int* source, const int* count);
}

namespace {

constexpr int zero = 0, one = 1;

double element(int seed, int i, int j) { return std::sin(seed + 1.37 * i + 0.71 * j); }

template <class T>
T number(int seed, int i, int j) {
  if constexpr (sizeof(T) == sizeof(double))
    return element(seed, i, j);
  else
    return {element(seed, i, j), element(seed + 4, i, j)};
}

template <class T>
struct Dealt {
  int rows, cols, row_block, col_block;
  int local_rows = 0, local_cols = 0;
  std::array<int, 9> descriptor{};
  std::vector<T> data;

  Dealt(int m, int n, int mb, int nb, int seed, int context) : rows(m), cols(n), row_block(mb), col_block(nb) {
    int p, q, row, col;
    Cblacs_gridinfo(context, &p, &q, &row, &col);
    local_rows = numroc_(&m, &mb, &row, &zero, &p);
    local_cols = numroc_(&n, &nb, &col, &zero, &q);
    descriptor = {1, context, m, n, mb, nb, 0, 0, std::max(1, local_rows)};
    data.resize(static_cast<std::size_t>(local_rows) * static_cast<std::size_t>(local_cols));
    each(context, [&](int i, int j, T& x) { x = number<T>(seed, i, j); });
  }
  template <class Visit>
  void each(int context, Visit&& visit) {
    int p, q, row, col;
    Cblacs_gridinfo(context, &p, &q, &row, &col);
    for (int j = 0; j < local_cols; ++j)
      for (int i = 0; i < local_rows; ++i)
        visit((i / row_block * p + row) * row_block + i % row_block,
              (j / col_block * q + col) * col_block + j % col_block,
              data[static_cast<std::size_t>(i) + static_cast<std::size_t>(j) * static_cast<std::size_t>(local_rows)]);
  }
};

/// The sum by the contract: chains of 1024 fused multiply-adds, added in ascending order.
template <class A, class B>
double sum(int k, A&& a, B&& b) {
  double total = 0;
  for (int first = 0; first < k; first += 1024) {
    double chain = 0;
    for (int l = first; l < std::min(first + 1024, k); ++l) chain = std::fma(a(l), b(l), chain);
    total = first == 0 ? chain : total + chain;
  }
  return total;
}

/// Multiplies in a context and counts this rank's elements that differ.
int differing(const char* order) {
  int context = 0;
  Cblacs_get(-1, 0, &context);
  Cblacs_gridinit(&context, order, 2, 2);
  constexpr int m = 70, n = 50, k = 2500;
  constexpr double alpha = 0.75, beta = -1.5;
  // sub(A) begins at the second block of rows, and B is transposed.
  Dealt<double> a(m + 16, k, 16, 24, 1, context), b(n, k, 12, 40, 2, context), c(m, n, 8, 10, 3, context);
  constexpr int first_row = 17;
  pdgemm_("N", "T", &m, &n, &k, &alpha, a.data.data(), &first_row, &one, a.descriptor.data(), b.data.data(), &one, &one,
          b.descriptor.data(), &beta, c.data.data(), &one, &one, c.descriptor.data());
  int count = 0;
  c.each(context, [&](int i, int j, double x) {
    const double product = alpha * sum(
                                       k, [&](int l) { return element(1, i + first_row - 1, l); },
                                       [&](int l) { return element(2, j, l); });
    if (x != std::fma(beta, element(3, i, j), product)) ++count;
    if (!(std::abs(x - product - beta * element(3, i, j)) < 1e-9)) count += 1000000; // not even close
  });
  // A part that begins within a block: the drop-in passes it on, and the result is right within rounding.
  constexpr int within = 2, small = 30;
  pdgemm_("N", "T", &small, &small, &k, &alpha, a.data.data(), &within, &one, a.descriptor.data(), b.data.data(), &one,
          &one, b.descriptor.data(), &beta, c.data.data(), &one, &one, c.descriptor.data());
  Cblacs_gridexit(context);
  return count;
}

/// The complex sum by the contract for column-major matrices: segments of 512, in which the number of op(B) is the
/// first factor.
template <class A, class B>
std::complex<double> complex_sum(int k, A&& a, B&& b) {
  std::complex<double> total = 0;
  for (int first = 0; first < k; first += 512) {
    double re = 0, im = 0;
    for (int l = first; l < std::min(first + 512, k); ++l) {
      const std::complex<double> x = b(l), y = a(l);
      re = std::fma(x.imag(), -y.imag(), std::fma(x.real(), y.real(), re));
      im = std::fma(x.imag(), y.real(), std::fma(x.real(), y.imag(), im));
    }
    total = first == 0 ? std::complex(re, im) : total + std::complex(re, im);
  }
  return total;
}

/// Computes C := alpha·Aᴴ·B + beta·C with complex numbers and counts this rank's elements that differ.
int differing_complex() {
  using Complex = std::complex<double>;
  int context = 0;
  Cblacs_get(-1, 0, &context);
  Cblacs_gridinit(&context, "Row", 2, 2);
  constexpr int m = 40, n = 30, k = 1300;
  const Complex alpha = 0.75, beta = -1.5;
  Dealt<Complex> a(k, m, 24, 16, 1, context), b(k, n, 40, 12, 2, context), c(m, n, 8, 10, 3, context);
  pzgemm_("C", "N", &m, &n, &k, &alpha, a.data.data(), &one, &one, a.descriptor.data(), b.data.data(), &one, &one,
          b.descriptor.data(), &beta, c.data.data(), &one, &one, c.descriptor.data());
  int count = 0;
  c.each(context, [&](int i, int j, const Complex& x) {
    const Complex sum = complex_sum(
        k, [&](int l) { return std::conj(number<Complex>(1, l, i)); }, [&](int l) { return number<Complex>(2, l, j); });
    const Complex old = number<Complex>(3, i, j);
    const Complex expected(std::fma(beta.real(), old.real(), alpha.real() * sum.real()),
                           std::fma(beta.real(), old.imag(), alpha.real() * sum.imag()));
    if (x != expected) ++count;
    if (!(std::abs(x - expected) < 1e-9)) count += 1000000; // not even close
  });
  Cblacs_gridexit(context);
  return count;
}

} // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int local = differing("Row") + differing("Col") + differing_complex(), all = 0, rank = 0;
  MPI_Reduce(&local, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) std::printf("%d elements differ from the contract\n", all);
  MPI_Finalize();
  return 0;
}
