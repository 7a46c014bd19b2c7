/// A program of a BLAS whose second product is damaged. It ends with 0 if both products have equal bits: the drop-in
/// repaired the second one, as TESSERA_VERIFY=repair asks.

#include <cstdio>
#include <vector>

#include "fault.hpp"

extern "C" void cblas_dgemm(int layout, int trans_a, int trans_b, int m, int n, int k, double alpha, const double* a,
                            int lda, const double* b, int ldb, double beta, double* c, int ldc);

int main() {
  constexpr int n = 64, rows = 101, plain = 111;
  std::vector<double> a(n * n, 0.5), b(n * n, 0.25), c(n * n), again(n * n);
  const auto multiply = [&](std::vector<double>& to) {
    cblas_dgemm(rows, plain, plain, n, n, n, 1.0, a.data(), n, b.data(), n, 0.0, to.data(), n);
  };
  multiply(c);
  using tessera::test::FaultKind;
  tessera::test::fault_setter(FAULTY_PLUGIN)({.kind = FaultKind::ResultBits, .row = 3, .col = 5, .bit = 61});
  multiply(again);
  std::puts(c == again ? "equal" : "different");
  return c == again ? 0 : 1;
}
