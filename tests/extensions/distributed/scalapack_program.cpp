/// A program of ScaLAPACK that knows nothing of Tessera. For each type of elements it prints how many elements of a
/// product differ from the sums that Tessera's contract defines; under the drop-in none does.
///
/// With the argument `prefixed` the program calls Tessera's names beside ScaLAPACK's. With `lie FIELD` a number in the
/// descriptor of one process is wrong.

#include <dlfcn.h>
#include <mpi.h>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>

#include "scalapack_matrix.hpp"

namespace {

template <class T>
using Gemm = void(const char*, const char*, const int*, const int*, const int*, const T*, const T*, const int*,
                  const int*, const int*, const T*, const int*, const int*, const int*, const T*, T*, const int*,
                  const int*, const int*);

} // namespace

extern "C" {
Gemm<float> psgemm_;
Gemm<double> pdgemm_;
Gemm<std::complex<float>> pcgemm_;
Gemm<std::complex<double>> pzgemm_;
}

namespace {

using namespace scalapack;

/// A product of ScaLAPACK's or, by a name with a prefix, of Tessera's.
template <class T>
struct NamedRoutine {
  std::string name;
  Gemm<T>* call;

  void operator()(const char* op_a, const char* op_b, int m, int n, int k, T alpha, Dealt<T>& a, int first_row,
                  Dealt<T>& b, T beta, Dealt<T>& c) const {
    call(op_a, op_b, &m, &n, &k, &alpha, a.data.data(), &first_row, &one, a.descriptor.data(), b.data.data(), &one,
         &one, b.descriptor.data(), &beta, c.data.data(), &one, &one, c.descriptor.data());
  }
};

template <class T>
NamedRoutine<T> product(const char* name, Gemm<T>* call, bool prefixed) {
  if (!prefixed) return {name, call};
  const std::string other = std::string("tessera_") + name;
  return {other, reinterpret_cast<Gemm<T>*>(dlsym(RTLD_DEFAULT, other.c_str()))};
}

/// How many elements of this process differ from the contract, and how many are not even close.
struct Count {
  int differ = 0, wrong = 0;

  template <class T>
  void compare(T x, T expected) {
    using Real = decltype(std::abs(x));
    if (x != expected) ++differ;
    if (!(std::abs(x - expected) < 100000 * std::numeric_limits<Real>::epsilon())) ++wrong;
  }
};

/// Computes C := alpha·A·Bᵀ + beta·C.
template <class T>
void compare(const NamedRoutine<T>& multiply, const char* order, Count& count) {
  const int context = make_context(order);
  constexpr int m = 38, n = 30, k = 1100;
  constexpr T alpha = 0.75, beta = -1.5;
  // sub(A) begins at the second block of rows.
  Dealt<T> a(m + 16, k, 16, 24, 1, context), b(n, k, 12, 40, 2, context), c(m, n, 8, 10, 3, context);
  constexpr int first_row = 17;
  multiply("N", "T", m, n, k, alpha, a, first_row, b, beta, c);
  c.each([&](int i, int j, T x) {
    const T sum = sum_by_contract<T>(
        k, [&](int l) { return number<T>(1, i + first_row - 1, l); }, [&](int l) { return number<T>(2, j, l); });
    count.compare(x, std::fma(beta, number<T>(3, i, j), alpha * sum));
  });
  // A part that begins within a block: the drop-in passes it on, and the result is right within rounding.
  constexpr int within = 2, small = 20;
  Dealt<T> d(m, n, 8, 10, 3, context);
  multiply("N", "T", small, small, k, alpha, a, within, b, beta, d);
  Count inexact;
  d.each([&](int i, int j, T x) {
    if (i >= small || j >= small) return;
    const T sum = sum_by_contract<T>(
        k, [&](int l) { return number<T>(1, i + within - 1, l); }, [&](int l) { return number<T>(2, j, l); });
    inexact.compare(x, std::fma(beta, number<T>(3, i, j), alpha * sum));
  });
  count.wrong += inexact.wrong;
  Cblacs_gridexit(context);
}

/// Computes C := alpha·Aᴴ·B + beta·C.
template <class T>
void compare(const NamedRoutine<std::complex<T>>& multiply, const char* order, Count& count) {
  using Complex = std::complex<T>;
  const int context = make_context(order);
  constexpr int m = 30, n = 20, k = 600;
  const Complex alpha = T(0.75), beta = T(-1.5);
  Dealt<Complex> a(k, m, 24, 16, 1, context), b(k, n, 40, 12, 2, context), c(m, n, 8, 10, 3, context);
  multiply("C", "N", m, n, k, alpha, a, 1, b, beta, c);
  c.each([&](int i, int j, const Complex& x) {
    const Complex sum = complex_sum_by_contract<T>(
        k, [&](int l) { return std::conj(number<Complex>(1, l, i)); }, [&](int l) { return number<Complex>(2, l, j); });
    const Complex old = number<Complex>(3, i, j);
    count.compare(x, Complex(std::fma(beta.real(), old.real(), alpha.real() * sum.real()),
                             std::fma(beta.real(), old.imag(), alpha.real() * sum.imag())));
  });
  Cblacs_gridexit(context);
}

/// Prints how many elements differ on all processes. The words are the same whatever is counted, for CTest to find.
template <class T>
void report(const NamedRoutine<T>& multiply) {
  Count mine, all;
  if (multiply.call == nullptr) mine.wrong = 1;
  for (const char* order : {"Row", "Col"})
    if (multiply.call != nullptr) compare(multiply, order, mine);
  MPI_Reduce(&mine, &all, 2, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) std::printf("%s: %d differ, %d wrong\n", multiply.name.c_str(), all.differ, all.wrong);
}

void report_all(bool prefixed) {
  report(product("psgemm_", psgemm_, prefixed));
  report(product("pdgemm_", pdgemm_, prefixed));
  report(product("pcgemm_", pcgemm_, prefixed));
  report(product("pzgemm_", pzgemm_, prefixed));
}

/// Passes a descriptor of which a number is wrong on one process.
void lie(std::size_t field) {
  const int context = make_context("Row");
  Dealt<double> a(40, 40, 8, 8, 1, context), c(40, 40, 8, 8, 2, context);
  constexpr int dtype = 0, wrong_type = 3, too_few = 0;
  if (c.row == 1 && c.col == 0) a.descriptor[field] = field == dtype ? wrong_type : too_few;
  product("pdgemm_", pdgemm_, false)("N", "N", 40, 40, 40, 1, a, 1, a, 0, c);
  std::puts("the program went on");
}

} // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "lie" && argc > 2) {
    lie(std::strtoul(argv[2], nullptr, 10));
  } else {
    report_all(false);
    if (mode == "prefixed") report_all(true);
  }
  MPI_Finalize();
  return 0;
}
