/// Threads that are cancelled (pthread_cancel) in the middle of the library's work: the work is done, then the thread
/// ends.

#include <pthread.h>
#include <unistd.h>
#include <atomic>
#include <cstdlib>
#include <functional>

#include <boost/test/unit_test.hpp>

#include <tessera/beyond_memory/file_product.hpp>
#include <tessera/checking/freivalds.hpp>
#include <tessera/interop/io.hpp>
#include <tessera/tessera.hpp>

#include "child.hpp"
#include "support/files.hpp"
#include "tested_backend.hpp"

using namespace tessera;
using namespace tessera::test;

namespace {

/// What a thread does again and again until it is cancelled.
struct Work {
  std::function<void()> once;
  std::atomic<int> begun = 0;
};

/// Cancels a thread at its work, `pause` microseconds after it has begun. Returns whether it was cancelled.
bool cancels(Work& work, useconds_t pause) {
  work.begun = 0;
  pthread_t thread;
  const auto repeat = [](void* argument) -> void* {
    Work& mine = *static_cast<Work*>(argument);
    for (;;) {
      ++mine.begun;
      mine.once();
      pthread_testcancel();
    }
  };
  if (pthread_create(&thread, nullptr, repeat, &work) != 0) return false;
  while (work.begun == 0) usleep(100);
  usleep(pause);
  void* result = nullptr;
  pthread_cancel(thread);
  return pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED;
}

/// Does the process go on after threads were cancelled at this work, and is a product right then?
bool survives(Backend backend, const std::function<void()>& once) {
  Work work{once};
  for (int round = 0; round < 15; ++round)
    if (!cancels(work, static_cast<useconds_t>(1 + 700 * round))) return false;
  const auto a = Matrix<float>::random(200, 300, Seed{1}), b = Matrix<float>::random(300, 150, Seed{2});
  return gemm(a, b, backend) == gemm(a, b, Backend::Reference);
}

/// Checks whether x·x is x, on three threads.
void check_square(const Matrix<float>& x) {
  Matrix<float> c = x;
  const Index n = x.rows(), ld = x.ld();
  const GemmCall call{
      {.m = n, .n = n, .k = n, .a = x.data(), .lda = ld, .b = x.data(), .ldb = ld, .c = c.data(), .ldc = c.ld()}};
  static_cast<void>(FreivaldsCheck(call, 1, FreivaldsCheck::default_vectors, 3).check(c.data(), c.ld(), {}, 3));
}

} // namespace

BOOST_AUTO_TEST_SUITE(cancelled)

BOOST_AUTO_TEST_CASE(the_work_is_done_first) {
  const Backend backend = tested_backend();
  const Folder folder;
  const auto file = folder.path() / "a.npy", text = folder.path() / "a.csv", out = folder.path() / "c.npy";
  const auto x = Matrix<float>::random(300, 300, Seed{1});
  save_npy(file, x);
  save_csv(text, x);
  const std::vector<std::pair<const char*, std::function<void()>>> all{
      {"the first product", [=] { static_cast<void>(gemm(x, x, backend)); }},
      {"products", [=] { static_cast<void>(gemm(x, x, {.backend = backend, .threads = 3})); }},
      {"sums and norms", [=] { static_cast<void>((x + x).norm_frobenius()); }},
      {"random numbers", [] { static_cast<void>(Matrix<float>::random(400, 400, Seed{2})); }},
      {"writing", [=] { save_npy(out, x), save_csv(out, x), write_text_file(out, "text"), check_writable(out); }},
      {"reading", [=] { static_cast<void>(load_npy<float>(file)), static_cast<void>(load_csv<float>(text)); }},
      {"checks of results", [=] { check_square(x); }},
      {"products of files", [=] {
         gemm_files({.a = file, .b = file, .out = out, .memory_limit = std::size_t{32} << 20, .start_over = true});
       }}};
  for (const auto& [name, once] : all) // in children, because a first time is one
    BOOST_TEST(in_child([&, &work = once] { return survives(backend, work); }) == "right", name);
}

BOOST_AUTO_TEST_SUITE_END()
