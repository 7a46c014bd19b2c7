/// Code that runs while a library is loaded, while another thread uses the library for the first time, and after
/// main().

#include <dlfcn.h>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

#include <boost/test/unit_test.hpp>

#include <tessera/tessera.hpp>

#include "child.hpp"
#include "tested_backend.hpp"

using namespace tessera;
using namespace tessera::test;

namespace {

bool multiplies_right(Backend backend) {
  const Matrix<float> a{{1, 2}, {3, 4}};
  return gemm(a, a, backend) == Matrix<float>{{7, 10}, {15, 22}};
}

/// Loads a library whose static object multiplies. Returns whether its product was right.
bool loads_right() {
  void* const library = dlopen(LOADED_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw std::runtime_error(dlerror());
  return reinterpret_cast<int (*)()>(dlsym(library, "tessera_test_was_right"))() == 1;
}

void check_at_exit() {
  bool right = false;
  try {
    const auto a = Matrix<float>::random(300, 200, Seed{1}), b = Matrix<float>::random(200, 100, Seed{2});
    right = gemm(a, b, tested_backend()) == gemm(a, b, Backend::Reference);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "at exit: %s\n", error.what());
  }
  if (!right) _exit(3);
}

std::atomic<int> executors_begun = 0;
std::atomic<bool> in_constructor = false;

/// Waits up to ten seconds.
bool comes_true(const std::atomic<bool>& flag) {
  for (int i = 0; i < 10'000 && !flag; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return flag;
}

} // namespace

extern "C" __attribute__((visibility("default"))) void tessera_test_in_constructor() { in_constructor = true; }

/// The plug-in of the folder makes_slowly calls this function. What makes the first executor asks the dynamic loader,
/// as the start of many a library does.
extern "C" __attribute__((visibility("default"))) void tessera_test_while_making() {
  if (executors_begun++ == 0 && comes_true(in_constructor)) static_cast<void>(dlsym(RTLD_DEFAULT, "no_such_symbol"));
}

BOOST_AUTO_TEST_SUITE(loading)

BOOST_AUTO_TEST_CASE(a_static_object_of_a_library_multiplies) {
  BOOST_TEST(in_child([] { return loads_right(); }, Leave::ThroughExit) == "right");
  BOOST_TEST(in_child([] { return multiplies_right(tested_backend()) && loads_right(); }, Leave::ThroughExit) ==
             "right");
}

/// The one thread has the loader's lock and waits for Tessera; the other one loads a plug-in of Tessera.
BOOST_AUTO_TEST_CASE(another_thread_uses_the_library_for_the_first_time) {
  for (int round = 0; round < 10; ++round)
    BOOST_TEST(in_child([] {
                 std::atomic<int> ready = 0;
                 std::atomic<bool> loaded = false, multiplied = false;
                 const auto meet = [&] {
                   ++ready;
                   while (ready < 2) {
                   }
                 };
                 std::thread loads([&] { meet(), loaded = loads_right(); });
                 std::thread multiplies([&] { meet(), multiplied = multiplies_right(tested_backend()); });
                 loads.join();
                 multiplies.join();
                 return loaded && multiplied;
               }) == "right");
}

/// The one thread makes an executor and asks the loader, whose lock the other one has, which wants this executor.
BOOST_AUTO_TEST_CASE(another_thread_makes_the_executor) {
  BOOST_TEST(in_child([] {
               std::atomic<bool> loaded = false, multiplied = false;
               std::thread multiplies([&] { multiplied = multiplies_right(tested_backend()); });
               while (executors_begun == 0) {
               }
               std::thread loads([&] { loaded = loads_right(); });
               loads.join();
               multiplies.join();
               return loaded && multiplied && in_constructor;
             }) == "right");
}

BOOST_AUTO_TEST_CASE(handlers_of_exit_multiply) {
  BOOST_TEST(in_child([] { return std::atexit(check_at_exit) == 0 && multiplies_right(tested_backend()); },
                      Leave::ThroughExit) == "right"); // after what the product has made
  BOOST_TEST(in_child([] { return multiplies_right(tested_backend()) && std::atexit(check_at_exit) == 0; },
                      Leave::ThroughExit) == "right");
  BOOST_TEST(in_child([] { return std::atexit(check_at_exit) == 0; }, Leave::ThroughExit) == "right"); // the first use
}

BOOST_AUTO_TEST_SUITE_END()
