/// The system refuses threads, as under `ulimit -u`: this program has a pthread_create in front of the system's.

#include <dlfcn.h>
#include <pthread.h>
#include <atomic>
#include <cerrno>
#include <cstdlib>

#include <boost/test/unit_test.hpp>

#include <tessera/beyond_memory/many_executors.hpp>
#include <tessera/checking/freivalds.hpp>
#include <tessera/tessera.hpp>

#include "child.hpp"
#include "tested_backend.hpp"

using namespace tessera;
using test::tested_backend;

namespace {

constexpr int any = 1'000'000;
std::atomic<int> most_threads = any; ///< threads that may live at the same time, as the system counts them
std::atomic<int> refusals = 0;

} // namespace

extern "C" __attribute__((visibility("default"))) int pthread_create(pthread_t* thread,
                                                                     const pthread_attr_t* attributes,
                                                                     void* (*start)(void*), void* argument) noexcept {
  static const auto system_create = reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  if (test::threads_of_this_process() < most_threads) return system_create(thread, attributes, start, argument);
  ++refusals;
  return EAGAIN;
}

BOOST_AUTO_TEST_SUITE(refused_threads)

/// Expects the bits of the reference although no more than `helpers` threads may live beside the main one.
void multiply_with(int helpers) {
  const auto a = Matrix<float>::random(300, 200, Seed{1}), b = Matrix<float>::random(200, 250, Seed{2});
  const auto expected = gemm(a, b, Backend::Reference);
  static_cast<void>(executor(tested_backend()));
  most_threads = 1 + helpers;
  for (int i = 0; i < 3; ++i) BOOST_TEST((gemm(a, b, {.backend = tested_backend(), .threads = 8}) == expected));
  // TBB wants no more threads than there are processors.
  if (helpers == 0 || tested_backend() == Backend::OpenMP) BOOST_TEST(refusals > 0);
  const auto x = Matrix<float>::random(700, 900, Seed{3});
  BOOST_TEST((x + x)(699, 899) == 2 * x(699, 899));
  most_threads = any;
  BOOST_TEST((gemm(a, b, {.backend = tested_backend(), .threads = 8}) == expected));
}

BOOST_AUTO_TEST_CASE(products_go_on_without_helpers) { multiply_with(0); }
BOOST_AUTO_TEST_CASE(products_go_on_with_one_helper) { multiply_with(1); }
BOOST_AUTO_TEST_CASE(products_go_on_with_fewer_helpers) { multiply_with(5); }

/// The threads that the first loop has are kept, and a larger loop finds that there are no more.
BOOST_AUTO_TEST_CASE(larger_products_find_no_more_threads) {
  const auto a = Matrix<double>::random(300, 200, Seed{1}), b = Matrix<double>::random(200, 250, Seed{2});
  const auto expected = gemm(a, b, Backend::Reference);
  BOOST_TEST((gemm(a, b, {.backend = tested_backend(), .threads = 2}) == expected));
  most_threads = 0;
  BOOST_TEST((gemm(a, b, {.backend = tested_backend(), .threads = 2}) == expected));
  BOOST_TEST((gemm(a, b, {.backend = tested_backend(), .threads = 8}) == expected));
}

/// The small devices of tests/system/plugin reach one another; the caller feeds the ones without a thread.
BOOST_AUTO_TEST_CASE(devices_that_exchange_operands) {
  const auto a = Matrix<float>::random(300, 1500, Seed{1}), b = Matrix<float>::random(1500, 250, Seed{2});
  const auto expected = gemm(a, b, Backend::Reference);
  Executor* const devices[]{&executor(Backend::Cuda, 0), &executor(Backend::Cuda, 1), &executor(Backend::Cuda, 0, 1)};
  for (const int helpers : {0, 1, 2}) {
    most_threads = 1 + helpers;
    const int before = refusals;
    Matrix<float> c(300, 250);
    gemm(devices, 1.0f, a, b, 0.0f, c);
    BOOST_TEST((c == expected), helpers << " threads beside the caller's");
    if (helpers < 2) BOOST_TEST(refusals > before);
  }
  most_threads = any;
}

/// The caller computes all blocks, and then finds none left for the executor without a thread.
BOOST_AUTO_TEST_CASE(executors_that_share_blocks) {
  const auto a = Matrix<float>::random(300, 200, Seed{1}), b = Matrix<float>::random(200, 250, Seed{2});
  const auto expected = gemm(a, b, Backend::Reference);
  Executor* const executors[]{&executor(Backend::Reference), &executor(tested_backend())};
  for (const int helpers : {0, 1}) {
    most_threads = 1 + helpers;
    const int before = refusals;
    Matrix<float> c(300, 250);
    gemm(executors, 1.0f, a, b, 0.0f, c);
    BOOST_TEST((c == expected), helpers << " threads beside the caller's");
    if (helpers == 0) BOOST_TEST(refusals > before);
  }
  most_threads = any;
}

BOOST_AUTO_TEST_CASE(checks_go_on) {
  constexpr Index m = 2000, n = 40, k = 30;
  const auto a = Matrix<float>::random(m, k, Seed{1}), b = Matrix<float>::random(k, n, Seed{2});
  auto c = gemm(a, b, Backend::Reference);
  const GemmCall call{{.m = m,
                       .n = n,
                       .k = k,
                       .a = a.data(),
                       .lda = a.ld(),
                       .b = b.data(),
                       .ldb = b.ld(),
                       .c = c.data(),
                       .ldc = c.ld()}};
  for (const int helpers : {0, 1, 2}) {
    most_threads = 1 + helpers;
    const int before = refusals;
    const FreivaldsCheck check(call, 1, FreivaldsCheck::default_vectors, 8);
    const FreivaldsResult result = check.check(c.data(), c.ld(), {}, 8);
    BOOST_TEST(result.complete());
    BOOST_TEST(result.within_bound());
    BOOST_TEST(refusals > before);
  }
  most_threads = any;
}

BOOST_AUTO_TEST_SUITE_END()
