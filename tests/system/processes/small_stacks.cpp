/// Callers with small stacks, and workers with such stacks where OMP_STACKSIZE is set: 64 KiB for products, and 256 KiB
/// for linear algebra.

#include <pthread.h>
#include <functional>
#include <stdexcept>
#include <string>

#include <boost/test/unit_test.hpp>

#include <tessera/gemm_batch.hpp>
#include <tessera/linear_algebra/cholesky.hpp>
#include <tessera/linear_algebra/qr.hpp>
#include <tessera/linear_algebra/solve.hpp>
#include <tessera/linear_algebra/symm.hpp>
#include <tessera/linear_algebra/syrk.hpp>
#include <tessera/linear_algebra/triangular.hpp>
#include <tessera/performance/tuning.hpp>
#include <tessera/tessera.hpp>

#include "tested_backend.hpp"

using namespace tessera;

namespace {

/// Calls work() on a thread with a stack of so many KiB.
void on_stack_of(std::size_t kib, const std::function<void()>& work) {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0 || pthread_attr_setstacksize(&attributes, kib << 10) != 0)
    throw std::runtime_error("the system does not take stacks of " + std::to_string(kib) + " KiB");
  const auto call = [](void* argument) -> void* {
    (*static_cast<const std::function<void()>*>(argument))();
    return nullptr;
  };
  pthread_t thread;
  if (pthread_create(&thread, &attributes, call, const_cast<std::function<void()>*>(&work)) != 0)
    throw std::runtime_error("the system does not start a thread with a stack of " + std::to_string(kib) + " KiB");
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

/// Sizes for each way that the kernels have: packed, direct on either side, of few rows, and of one row.
struct Size {
  Index m, n, k;
};
constexpr Size sizes[]{{300, 70, 1100}, {70, 300, 1100}, {5, 3000, 1100},
                       {1, 5000, 1100}, {3000, 1, 1100}, {40, 40, 40}};

/// All products but the small one have segments, and all have beta, so that the sums of earlier segments wait.
template <class T>
void multiply_in(Backend backend) {
  for (const auto& [m, n, k] : sizes)
    for (const Op op : {Op::None, Op::Transpose}) {
      const bool flips = op != Op::None;
      const auto a = Matrix<T>::random(flips ? k : m, flips ? m : k, Seed{1});
      const auto b = Matrix<T>::random(flips ? n : k, flips ? k : n, Seed{2}), c = Matrix<T>::random(m, n, Seed{3});
      const auto product = [&](const GemmOptions& options) {
        Matrix<T> result = c;
        gemm(op, op, m, n, k, Scalar<T>(2), a.data(), a.ld(), b.data(), b.ld(), Scalar<T>(1), result.data(),
             result.ld(), options);
        return result;
      };
      const auto expected = product({.backend = Backend::Reference});
      BOOST_TEST((product({.backend = backend, .threads = 3}) == expected));
      for (const GemmKernel& kernel : gemm_kernels(backend)) {
        if (kernel.type != dtype_of<T> || kernel.math != Math::Strict) continue;
        try {
          const auto result = product({.backend = backend, .kernel = kernel.name, .threads = 3});
          if (keeps_contract(kernel)) BOOST_TEST((result == expected), kernel.name);
        } catch (const KernelRejected&) {
        }
      }
    }
  const auto a = Matrix<T>::random(300, 1100, Seed{1}), sum = a + a;
  BOOST_TEST(static_cast<double>(sum(0, 0)) == static_cast<double>(a(0, 0) + a(0, 0)));
}

/// Many small products, whose B is transposed on the stack.
template <class T>
void multiply_batches_in(Backend backend) {
  constexpr Index n = 45, count = 20;
  const auto a = Matrix<T>::random(count * n, n, Seed{1}), b = Matrix<T>::random(count * n, n, Seed{2});
  const auto batch = [&](const GemmOptions& options) {
    Matrix<T> c(count * n, n);
    gemm_batch<T, T>(Op::None, Op::Transpose, n, n, n, 2, a.data(), n, n * n, b.data(), n, n * n, 0, c.data(), n, n * n,
                     count, options);
    return c;
  };
  BOOST_TEST((batch({.backend = backend, .threads = 3}) == batch({.backend = Backend::Reference})));
}

template <class T>
void solve_in(Backend backend) {
  constexpr Index n = 300, m = 400;
  const SolveOptions options{.backend = backend, .threads = 3}, reference{.backend = Backend::Reference};
  auto a = Matrix<T>::random(n, n, Seed{1});
  const auto b = Matrix<T>::random(n, 30, Seed{2}), tall = Matrix<T>::random(m, n, Seed{3});
  for (Index i = 0; i < n; ++i) a(i, i) = T(500);
  BOOST_TEST((solve(a, b, options) == solve(a, b, reference)));
  BOOST_TEST((inverse(a, options) == inverse(a, reference)));
  BOOST_TEST((syrk(a, options) == syrk(a, reference)));
  const auto solve_positive = [&](const SolveOptions& o) { return Cholesky<T>(a, Triangle::Lower, o).solve(b); };
  BOOST_TEST((solve_positive(options) == solve_positive(reference)));
  const auto right = Matrix<T>::random(m, 30, Seed{4});
  BOOST_TEST((least_squares(tall, right, options) == least_squares(tall, right, reference)));
  for (const Triangle triangle : {Triangle::Lower, Triangle::Upper}) {
    BOOST_TEST((triangular_solve(triangle, a, b, Side::Left, Diagonal::Stored, options) ==
                triangular_solve(triangle, a, b, Side::Left, Diagonal::Stored, reference)));
    BOOST_TEST((triangular_multiply(triangle, a, b, Side::Left, Diagonal::Stored, options) ==
                triangular_multiply(triangle, a, b, Side::Left, Diagonal::Stored, reference)));
    BOOST_TEST((symmetric_multiply(triangle, a, b, Side::Left, options) ==
                symmetric_multiply(triangle, a, b, Side::Left, reference)));
  }
}

Backend backend_on_small_stacks() {
  // ThreadSanitizer names the functions of libraries that are loaded before its first report.
  static_cast<void>(available_backends());
  return test::tested_backend();
}

} // namespace

BOOST_AUTO_TEST_SUITE(small_stacks)

BOOST_AUTO_TEST_CASE(every_kernel_runs) {
  const Backend backend = backend_on_small_stacks();
  on_stack_of(64, [&] {
    multiply_in<float>(backend);
    multiply_in<double>(backend);
    multiply_in<f16>(backend);
    multiply_batches_in<float>(backend);
    multiply_batches_in<double>(backend);
  });
}

BOOST_AUTO_TEST_CASE(linear_algebra_runs) {
  const Backend backend = backend_on_small_stacks();
  on_stack_of(256, [&] {
    solve_in<double>(backend);
    solve_in<std::complex<float>>(backend);
    solve_in<std::complex<double>>(backend);
  });
}

BOOST_AUTO_TEST_SUITE_END()
