/// A program of a BLAS whose second product is damaged. It ends with 0 if both products have equal bits: the drop-in
/// repaired the second one, as TESSERA_VERIFY=repair asks. The argument is the routine: dgemm, zgemm, dgemm_batch, or
/// dsyrk, which does not verify itself.

#include <complex>
#include <cstdio>
#include <string_view>
#include <vector>

#include "fault.hpp"

extern "C" {
void cblas_dgemm(int layout, int trans_a, int trans_b, int m, int n, int k, double alpha, const double* a, int lda,
                 const double* b, int ldb, double beta, double* c, int ldc);
void cblas_zgemm(int layout, int trans_a, int trans_b, int m, int n, int k, const void* alpha, const void* a, int lda,
                 const void* b, int ldb, const void* beta, void* c, int ldc);
void cblas_dgemm_batch(int layout, const int* trans_a, const int* trans_b, const int* m, const int* n, const int* k,
                       const double* alpha, const double** a, const int* lda, const double** b, const int* ldb,
                       const double* beta, double** c, const int* ldc, int groups, const int* sizes);
void cblas_dsyrk(int layout, int uplo, int trans, int n, int k, double alpha, const double* a, int lda, double beta,
                 double* c, int ldc);
}

int main(int count, char** words) {
  constexpr int n = 64, rows = 101, plain = 111, lower = 122;
  constexpr int single = 1;
  constexpr double one = 1, zero = 0;
  const std::string_view routine = count > 1 ? words[1] : "dgemm";
  std::vector<double> a(2 * n * n, 0.5), b(2 * n * n, 0.25), c(2 * n * n), again(2 * n * n);
  const auto multiply = [&](std::vector<double>& to) {
    const std::complex<double> alpha = 1, beta = 0;
    const double *all_a[] = {a.data()}, *all_b[] = {b.data()};
    double* all_c[] = {to.data()};
    if (routine == "zgemm")
      cblas_zgemm(rows, plain, plain, n, n, n, &alpha, a.data(), n, b.data(), n, &beta, to.data(), n);
    else if (routine == "dgemm_batch")
      cblas_dgemm_batch(rows, &plain, &plain, &n, &n, &n, &one, all_a, &n, all_b, &n, &zero, all_c, &n, 1, &single);
    else if (routine == "dsyrk")
      cblas_dsyrk(rows, lower, plain, n, n, one, a.data(), n, zero, to.data(), n);
    else
      cblas_dgemm(rows, plain, plain, n, n, n, one, a.data(), n, b.data(), n, zero, to.data(), n);
  };
  multiply(c);
  using tessera::test::FaultKind;
  tessera::test::fault_setter(FAULTY_PLUGIN)({.kind = FaultKind::ResultBits, .row = 3, .col = 5, .bit = 61});
  multiply(again);
  std::puts(c == again ? "equal" : "different");
  return c == again ? 0 : 1;
}
