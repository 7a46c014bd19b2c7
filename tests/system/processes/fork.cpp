/// fork() after products with several threads: the child has only the thread that forked, and computes with threads of
/// its own. Each case runs in a process of its own, for each backend that TESTED_BACKEND names.

#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <tessera/tessera.hpp>

#include "child.hpp"
#include "support/expect.hpp"
#include "tested_backend.hpp"

using namespace tessera;
using tessera::test::in_child;
using tessera::test::Leave;
using tessera::test::tested_backend;

namespace {

constexpr int threads = 4;

struct Problem {
  Matrix<float> a = Matrix<float>::random(300, 200, Seed{1});
  Matrix<float> b = Matrix<float>::random(200, 250, Seed{2});
  Matrix<float> expected = gemm(a, b, Backend::Reference);

  bool is_right() const { return gemm(a, b, {.backend = tested_backend(), .threads = threads}) == expected; }
};

/// An operation that reduces and one that goes over elements, both with threads.
bool other_operations_are_right() {
  const auto x = Matrix<float>::random(700, 900, Seed{3});
  const auto sum = x + x;
  return sum(699, 899) == x(699, 899) + x(699, 899) && sum.norm_frobenius() == 2 * x.norm_frobenius();
}

boost::test_tools::assertion_result has_processors(boost::unit_test::test_unit_id) {
  return std::thread::hardware_concurrency() > 1;
}

} // namespace

BOOST_AUTO_TEST_SUITE(forks)

/// On one processor TBB uses one thread.
BOOST_AUTO_TEST_CASE(the_child_multiplies_with_threads, *boost::unit_test::precondition(has_processors)) {
  const Problem problem;
  BOOST_TEST_REQUIRE(problem.is_right());
  BOOST_TEST(in_child([&] {
               const int before = test::threads_of_this_process();
               return before == 1 && problem.is_right() && test::threads_of_this_process() > 1;
             }) == "right");
  BOOST_TEST(in_child(other_operations_are_right) == "right");
  BOOST_TEST(problem.is_right());
}

BOOST_AUTO_TEST_CASE(the_child_ends_through_exit) {
  const Problem problem;
  BOOST_TEST_REQUIRE(problem.is_right());
  BOOST_TEST(in_child([&] { return problem.is_right(); }, Leave::ThroughExit) == "right");
}

BOOST_AUTO_TEST_CASE(a_grandchild_multiplies) {
  const Problem problem;
  BOOST_TEST_REQUIRE(problem.is_right());
  BOOST_TEST(in_child([&] {
               return problem.is_right() && in_child([&] { return problem.is_right(); }) == "right" &&
                      problem.is_right();
             }) == "right");
}

BOOST_AUTO_TEST_CASE(the_child_multiplies_first) {
  const Problem problem;
  BOOST_TEST(in_child([&] { return problem.is_right(); }) == "right");
  BOOST_TEST(problem.is_right());
}

BOOST_AUTO_TEST_CASE(several_threads_of_the_child_multiply) {
  const Problem problem;
  BOOST_TEST_REQUIRE(problem.is_right());
  BOOST_TEST(in_child([&] {
               std::atomic<int> wrong = 0;
               std::vector<std::thread> callers;
               for (int caller = 0; caller < 3; ++caller)
                 callers.emplace_back([&] {
                   for (int i = 0; i < 20; ++i) wrong += problem.is_right() ? 0 : 1;
                 });
               for (std::thread& caller : callers) caller.join();
               return wrong == 0;
             }) == "right");
}

BOOST_AUTO_TEST_CASE(other_threads_multiply_meanwhile) {
  const Problem problem;
  BOOST_TEST_REQUIRE(problem.is_right());
  std::atomic<bool> stop = false;
  std::atomic<int> wrong = 0;
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 2; ++caller)
    callers.emplace_back([&] {
      while (!stop) wrong += problem.is_right() ? 0 : 1;
    });
  for (int i = 0; i < 20; ++i) BOOST_TEST(in_child([&] { return problem.is_right(); }) == "right");
  stop = true;
  for (std::thread& caller : callers) caller.join();
  BOOST_TEST(wrong == 0);
}

BOOST_AUTO_TEST_CASE(a_thread_that_is_not_the_main_one_forks) {
  const Problem problem;
  BOOST_TEST_REQUIRE(problem.is_right());
  std::string outcome;
  std::thread([&] {
    static_cast<void>(problem.is_right());
    outcome = in_child([&] { return problem.is_right(); });
  }).join();
  BOOST_TEST(outcome == "right");
}

BOOST_AUTO_TEST_SUITE_END()

namespace {

std::atomic<bool> is_loading = false;

} // namespace

/// The plug-in of the folder loads_slowly calls this function while it is loaded.
extern "C" __attribute__((visibility("default"))) void tessera_test_while_loading() {
  is_loading = true;
  is_loading.notify_all();
  usleep(200'000); // a fork that does not wait happens now
}

BOOST_AUTO_TEST_SUITE(forks_of_loading)

BOOST_AUTO_TEST_CASE(a_plugin_is_loaded_meanwhile) { // TESSERA_PLUGIN_PATH has the slow plug-in
  std::thread loads([] { static_cast<void>(executor(Backend::Tbb)); });
  is_loading.wait(false);
  BOOST_TEST(in_child([] {
               const Matrix<float> a{{1, 2}, {3, 4}}, square{{7, 10}, {15, 22}};
               return gemm(a, a, Backend::Tbb) == square && gemm(a, a) == square;
             }) == "right");
  loads.join();
}

/// Says whether action() throws BackendUnavailable with every part in its text. Boost.Test counts no failures of a
/// child.
template <class Action>
bool is_unavailable(Action action, std::initializer_list<std::string_view> parts) {
  try {
    action();
  } catch (const BackendUnavailable& error) {
    return std::all_of(parts.begin(), parts.end(), [&](std::string_view part) {
      if (!test::contains(error.what(), part)) std::fprintf(stderr, "'%s' lacks '%s'\n", error.what(), part.data());
      return test::contains(error.what(), part);
    });
  }
  std::fprintf(stderr, "nothing was thrown\n");
  return false;
}

BOOST_AUTO_TEST_CASE(a_device_of_the_parent_is_refused) { // TESSERA_PLUGIN_PATH has a device in host memory
  const Matrix<float> a{{1, 2}, {3, 4}}, square{{7, 10}, {15, 22}};
  const Matrix<float> on_device = gemm(a, a, Backend::Cuda), read = gemm(a, a, Backend::Cuda);
  BOOST_TEST((read == square));
  BOOST_TEST(in_child([&] {
               return is_unavailable([&] { static_cast<void>(gemm(a, a, Backend::Cuda)); },
                                     {"cuda", "was forked from one that had used the device", "as a new program"});
             }) == "right");
  BOOST_TEST(in_child([&] {
               return is_unavailable([&] { static_cast<void>(on_device(0, 0)); },
                                     {"2×2 matrix", "small device", "read the matrix before the fork"});
             }) == "right");
  BOOST_TEST(in_child([] {
               for (const BackendInfo& info : available_backends())
                 if (info.backend == Backend::Cuda) return !info.available && test::contains(info.reason, "was forked");
               return false;
             }) == "right");
  BOOST_TEST(in_child([&] { // the host's copies are there, and Auto takes the host
               return gemm(a, a) == square && gemm(read, a)(0, 0) == 37 && (read + read)(1, 1) == 44;
             }) == "right");
  BOOST_TEST((on_device == square));
}

BOOST_AUTO_TEST_SUITE_END()
