/// The C interface and the BLAS drop-in while memory is short.

#include <boost/test/unit_test.hpp>

#include <complex>
#include <cstdlib>
#include <vector>

#include <tessera/tessera.h>

#include "products.hpp"

extern "C" {
void cblas_sgemm(int layout, int trans_a, int trans_b, int m, int n, int k, float alpha, const float* a, int lda,
                 const float* b, int ldb, float beta, float* c, int ldc);
void cblas_zgemm(int layout, int trans_a, int trans_b, int m, int n, int k, const void* alpha, const void* a, int lda,
                 const void* b, int ldb, const void* beta, void* c, int ldc);
void cblas_sgemm_batch_strided(int layout, int trans_a, int trans_b, int m, int n, int k, float alpha, const float* a,
                               int lda, int stride_a, const float* b, int ldb, int stride_b, float beta, float* c,
                               int ldc, int stride_c, int count);
void dgesv_(const int* n, const int* nrhs, double* a, const int* lda, int* ipiv, double* b, const int* ldb, int* info);
void dposv_(const char* uplo, const int* n, const int* nrhs, double* a, const int* lda, double* b, const int* ldb,
            int* info);
void dgels_(const char* trans, const int* m, const int* n, const int* nrhs, double* a, const int* lda, double* b,
            const int* ldb, double* work, const int* lwork, int* info);
void dgeqrf_(const int* m, const int* n, double* a, const int* lda, double* tau, double* work, const int* lwork,
             int* info);
void dorgqr_(const int* m, const int* n, const int* k, double* a, const int* lda, const double* tau, double* work,
             const int* lwork, int* info);
void zgesv_(const int* n, const int* nrhs, std::complex<double>* a, const int* lda, int* ipiv, std::complex<double>* b,
            const int* ldb, int* info);
void zposv_(const char* uplo, const int* n, const int* nrhs, std::complex<double>* a, const int* lda,
            std::complex<double>* b, const int* ldb, int* info);
void zgels_(const char* trans, const int* m, const int* n, const int* nrhs, std::complex<double>* a, const int* lda,
            std::complex<double>* b, const int* ldb, std::complex<double>* work, const int* lwork, int* info);
void dtrmm_(const char* side, const char* uplo, const char* trans, const char* diag, const int* m, const int* n,
            const double* alpha, const double* a, const int* lda, double* b, const int* ldb);
void dsymm_(const char* side, const char* uplo, const int* m, const int* n, const double* alpha, const double* a,
            const int* lda, const double* b, const int* ldb, const double* beta, double* c, const int* ldc);
void dsyrk_(const char* uplo, const char* trans, const int* n, const int* k, const double* alpha, const double* a,
            const int* lda, const double* beta, double* c, const int* ldc);
}

using namespace memory_test;

namespace {

/// Throws what the status and the text of a C function say.
void expect(tessera_status status) {
  const Uncounted here;
  if (status == TESSERA_OUT_OF_MEMORY) throw tessera::OutOfMemory(tessera_last_error());
  tessera::throw_if_failed({static_cast<tessera::StatusCode>(status), tessera_last_error()});
}

EntryPoint c_product(const std::string& name, tessera_backend backend, Index size) {
  return product_entry<float>(name, size, size, size, [backend](HostProduct<float>& x) {
    tessera_options options = tessera_default_options();
    options.backend = backend;
    expect(tessera_gemm_f32(TESSERA_NONE, TESSERA_NONE, x.m, x.n, x.k, 2, x.a.data(), x.k, x.b.data(), x.n, 1,
                            x.c.data(), x.n, &options));
  });
}

} // namespace

BOOST_AUTO_TEST_SUITE(c_interface)

BOOST_AUTO_TEST_CASE(c_products) { check_first_use(c_product("tessera_gemm_f32, auto", TESSERA_AUTO, 60)); }

BOOST_AUTO_TEST_CASE(c_batches) {
  EntryPoint entry = product_entry<float>("tessera_gemm_strided_batch_f32", 200, 8, 8, [](HostProduct<float>& x) {
    expect(tessera_gemm_strided_batch_f32(TESSERA_NONE, TESSERA_NONE, 4, 8, 8, 2, x.a.data(), 8, 32, x.b.data(), 8, 0,
                                          1, x.c.data(), 8, 32, 50, nullptr));
  });
  entry.may_write_parts = true;
  check_later_use(entry);
}

BOOST_AUTO_TEST_CASE(c_executors) {
  const auto executor = std::make_shared<tessera_executor*>(nullptr);
  const auto memory = std::make_shared<void*>(nullptr);
  check_later_use({.name = "tessera_allocate",
                   .reset =
                       [=] {
                         tessera_free(*executor, *memory);
                         *memory = nullptr;
                       },
                   .call =
                       [=] {
                         expect(tessera_get_executor(TESSERA_OPENMP, executor.get()));
                         expect(tessera_allocate(*executor, 100000, memory.get()));
                       },
                   .result = [=] { return std::string(*memory == nullptr ? "no memory" : "memory"); }});
}

BOOST_AUTO_TEST_CASE(c_names) {
  const auto found = std::make_shared<tessera_backend>();
  ::setenv("TESSERA_PLUGIN_PATH", PLUGIN_DIR "/standin", 1);
  check_first_use({.name = "tessera_find_backend",
                   .reset = [=] { *found = TESSERA_AUTO; },
                   .call = [=] { expect(tessera_find_backend("standin", found.get())); },
                   .result = [=] { return std::to_string(static_cast<int>(*found)); }});
  ::unsetenv("TESSERA_PLUGIN_PATH");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(blas)

BOOST_AUTO_TEST_CASE(blas_products) {
  EntryPoint real = product_entry<float>("cblas_sgemm", 200, 200, 200, [](HostProduct<float>& x) {
    cblas_sgemm(101, 111, 111, 200, 200, 200, 2, x.a.data(), 200, x.b.data(), 200, 1, x.c.data(), 200);
  });
  check_first_use(real);
  real.warm_up = [] { tessera::executor(tessera::Backend::Auto); };
  real.name += ", backend there";
  check_first_use(real);
  using Number = std::complex<double>;
  EntryPoint complex = product_entry<Number>("cblas_zgemm", 20, 30, 40, [](HostProduct<Number>& x) {
    const Number alpha(2, 1), beta(1, 0.5);
    cblas_zgemm(102, 113, 111, 20, 30, 40, &alpha, x.a.data(), 40, x.b.data(), 40, &beta, x.c.data(), 20);
  });
  complex.warm_up = [] { tessera::executor(tessera::Backend::Auto); };
  check_first_use(complex);
  EntryPoint batch = product_entry<float>("cblas_sgemm_batch_strided", 200, 8, 8, [](HostProduct<float>& x) {
    cblas_sgemm_batch_strided(101, 111, 111, 4, 8, 8, 2, x.a.data(), 8, 32, x.b.data(), 8, 0, 1, x.c.data(), 8, 32, 50);
  });
  check_later_use(batch);
}

BOOST_AUTO_TEST_CASE(blas_systems) {
  static const int n = 150, count = n;
  static const double unit = 1;
  // A and B become the factors and the solution: c holds both, with a diagonal that makes A positive definite.
  struct System {
    std::vector<double> numbers = std::vector<double>(static_cast<std::size_t>(n * (n + 2 * count)));
    std::vector<int> pivots = std::vector<int>(n);
    std::vector<double> work = std::vector<double>(2 * n);
    int info = 0;
    double* b() { return numbers.data() + n * n; }
    double* c() { return b() + n * count; }
  };
  const auto x = std::make_shared<System>();
  const auto entry = [&](const char* name, auto call) {
    return EntryPoint{.name = name,
                      .reset =
                          [x] {
                            for (int i = 0; i < n * (n + 2 * count); ++i)
                              x->numbers[static_cast<std::size_t>(i)] = i % n == i / n ? 4 * n : (i % n * (i / n)) % 7;
                            x->info = 77;
                          },
                      .call = [x, call] { call(*x); },
                      .result =
                          [x] {
                            return std::string(reinterpret_cast<const char*>(x->numbers.data()),
                                               x->numbers.size() * sizeof(double)) +
                                   std::to_string(x->info);
                          }};
  };
  check_first_use(entry(
      "dgesv_", [](System& s) { dgesv_(&n, &count, s.numbers.data(), &n, s.pivots.data(), s.b(), &n, &s.info); }));
  for (const char* const uplo : {"L", "U"})
    check_later_use(
        entry("dposv_", [uplo](System& s) { dposv_(uplo, &n, &count, s.numbers.data(), &n, s.b(), &n, &s.info); }));
  static const int length = 2 * n;
  check_later_use(entry("dgels_", [](System& s) {
    dgels_("N", &n, &n, &count, s.numbers.data(), &n, s.b(), &n, s.work.data(), &length, &s.info);
  }));
  check_later_use(entry("dgeqrf_ and dorgqr_", [](System& s) {
    dgeqrf_(&n, &n, s.numbers.data(), &n, s.b(), s.work.data(), &length, &s.info);
    dorgqr_(&n, &n, &n, s.numbers.data(), &n, s.b(), s.work.data(), &length, &s.info);
  }));
  check_first_use(
      entry("dsyrk_", [](System& s) { dsyrk_("L", "N", &n, &n, &unit, s.numbers.data(), &n, &unit, s.b(), &n); }));
  // Their memory is the threads' or the executor's, which keep it for the next call.
  const auto check_warm = [](EntryPoint call) {
    call.warm_up = [] { tessera::executor(tessera::Backend::Auto); };
    check_first_use(call);
  };
  check_warm(entry("dtrmm_, left",
                   [](System& s) { dtrmm_("L", "U", "T", "N", &n, &count, &unit, s.numbers.data(), &n, s.b(), &n); }));
  check_warm(entry("dtrmm_, right",
                   [](System& s) { dtrmm_("R", "L", "N", "N", &n, &count, &unit, s.numbers.data(), &n, s.b(), &n); }));
  check_warm(entry(
      "dsymm_", [](System& s) { dsymm_("R", "L", &n, &n, &unit, s.numbers.data(), &n, s.b(), &n, &unit, s.c(), &n); }));
}

/// A Hermitian matrix with a diagonal that makes it positive definite, and as many right-hand sides.
BOOST_AUTO_TEST_CASE(blas_complex_systems) {
  using Number = std::complex<double>;
  static const int n = 70, length = 2 * n;
  struct System {
    std::vector<Number> numbers = std::vector<Number>(static_cast<std::size_t>(2 * n * n));
    std::vector<int> pivots = std::vector<int>(n);
    std::vector<Number> work = std::vector<Number>(length);
    int info = 0;
    Number* a() { return numbers.data(); }
    Number* b() { return numbers.data() + n * n; }
  };
  const auto x = std::make_shared<System>();
  const auto entry = [&](const char* name, auto call) {
    return EntryPoint{
        .name = name,
        .reset =
            [x] {
              for (int j = 0; j < 2 * n; ++j)
                for (int i = 0; i < n; ++i)
                  x->a()[j * n + i] = i == j ? Number(8 * n) : Number(i * j % 7, (i > j ? 1 : -1) * (i * j % 5));
              x->info = 77;
            },
        .call = [x, call] { call(*x); },
        .result =
            [x] {
              return std::string(reinterpret_cast<const char*>(x->numbers.data()), x->numbers.size() * sizeof(Number)) +
                     std::to_string(x->info);
            }};
  };
  check_later_use(entry("zgesv_", [](System& s) { zgesv_(&n, &n, s.a(), &n, s.pivots.data(), s.b(), &n, &s.info); }));
  for (const char* const uplo : {"L", "U"})
    check_later_use(entry("zposv_", [uplo](System& s) { zposv_(uplo, &n, &n, s.a(), &n, s.b(), &n, &s.info); }));
  for (const char* const op : {"N", "C"})
    check_later_use(entry(
        "zgels_", [op](System& s) { zgels_(op, &n, &n, &n, s.a(), &n, s.b(), &n, s.work.data(), &length, &s.info); }));
}

BOOST_AUTO_TEST_SUITE_END()
