/// Callers whose stack has 64 KiB, and workers with such stacks where OMP_STACKSIZE is set.

#include <pthread.h>
#include <cstdlib>
#include <functional>
#include <stdexcept>

#include <boost/test/unit_test.hpp>

#include <tessera/performance/tuning.hpp>
#include <tessera/tessera.hpp>

using namespace tessera;

namespace {

constexpr std::size_t small_stack = 64 << 10;

/// Calls work() on a thread with a small stack.
void on_small_stack(const std::function<void()>& work) {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0 || pthread_attr_setstacksize(&attributes, small_stack) != 0)
    throw std::runtime_error("the system does not take stacks of 64 KiB");
  const auto call = [](void* argument) -> void* {
    (*static_cast<const std::function<void()>*>(argument))();
    return nullptr;
  };
  pthread_t thread;
  if (pthread_create(&thread, &attributes, call, const_cast<std::function<void()>*>(&work)) != 0)
    throw std::runtime_error("the system does not start a thread with a stack of 64 KiB");
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

template <class T>
void multiply_in(Backend backend) {
  const auto a = Matrix<T>::random(300, 1100, Seed{1}), b = Matrix<T>::random(1100, 70, Seed{2});
  const auto expected = gemm(a, b, Backend::Reference);
  for (const GemmKernel& row : gemm_kernels(backend)) {
    if (row.type != dtype_of<T> || row.math != Math::Strict) continue;
    try {
      const auto c = gemm(a, b, {.backend = backend, .kernel = row.name, .threads = 3});
      if (keeps_contract(row)) BOOST_TEST((c == expected), row.name);
    } catch (const KernelRejected&) {
    }
  }
  const auto few = gemm(a, b.block(0, 0, 1100, 3), backend);
  BOOST_TEST((few == gemm(a, b.block(0, 0, 1100, 3), Backend::Reference)));
  const auto sum = a + a;
  BOOST_TEST(static_cast<double>(sum(0, 0)) == static_cast<double>(a(0, 0) + a(0, 0)));
}

} // namespace

BOOST_AUTO_TEST_SUITE(small_stacks)

BOOST_AUTO_TEST_CASE(every_kernel_runs) {
  // ThreadSanitizer names the functions of libraries that are loaded before its first report.
  static_cast<void>(available_backends());
  const Backend backend = parse_backend(std::getenv("TESTED_BACKEND"));
  on_small_stack([&] {
    multiply_in<float>(backend);
    multiply_in<double>(backend);
    multiply_in<f16>(backend);
  });
}

BOOST_AUTO_TEST_SUITE_END()
