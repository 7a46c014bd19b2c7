/// How many processors a process has where an OpenMP runtime binds its threads, and on which of them threads run. Each
/// case runs in a process of its own, whose environment binds. One program has OpenMP already, which binds the first
/// thread before libtessera is loaded; the other gets it with a plug-in.

#include <sched.h>
#include <unistd.h>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <tessera/detail/processors.hpp>
#include <tessera/tessera.hpp>

#ifdef TESSERA_TEST_HAS_OPENMP
#include <omp.h>
#endif

#include "tested_backend.hpp"

using namespace tessera;
using detail::ProcessorMask;
using test::tested_backend;

namespace {

/// The process that started this one is not bound.
const ProcessorMask all = ProcessorMask::of_thread(getppid());

void multiply() {
  const auto a = Matrix<float>::random(700, 700, Seed{1});
  Matrix<float> c(700, 700);
  gemm(1.0f, a, a, 0.0f, c, {.backend = tested_backend(), .threads = all.count()});
}

std::vector<int> threads_of_process() {
  std::vector<int> threads;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task"))
    threads.push_back(std::stoi(entry.path().filename().string()));
  return threads;
}

} // namespace

BOOST_AUTO_TEST_SUITE(processors)

BOOST_AUTO_TEST_CASE(a_bound_process_has_those_of_its_start) {
#ifdef TESSERA_TEST_HAS_OPENMP
  BOOST_TEST(omp_get_num_procs() == all.count());
  BOOST_TEST(ProcessorMask::of_thread(0).is_within(all));
#endif
  BOOST_TEST(detail::processors_of_process() == all.count());
  const int threads = default_threads();
  multiply();
  BOOST_TEST(detail::processors_of_process() == all.count());
  BOOST_TEST(executor(tested_backend()).capabilities().threads == threads);
  int in_a_thread = 0;
  std::thread([&] { in_a_thread = detail::processors_of_process(); }).join();
  BOOST_TEST(in_a_thread == all.count());
}

BOOST_AUTO_TEST_CASE(loading_a_backend_leaves_the_caller_where_it_was) {
  const ProcessorMask before = ProcessorMask::of_thread(0);
  multiply();
  BOOST_TEST((ProcessorMask::of_thread(0) == before));
}

/// The runtime may bind its own threads to a place each, but no processor may be without a thread that can run on it.
BOOST_AUTO_TEST_CASE(workers_run_on_all_processors) {
  multiply();
  multiply();
  int on_all = 0;
  std::vector<ProcessorMask> masks;
  for (const int thread : threads_of_process()) {
    masks.push_back(ProcessorMask::of_thread(thread));
    on_all += masks.back() == all;
  }
  const bool each_has_its_own = masks.size() > 1 && masks[0] != masks[1];
  BOOST_TEST((all.count() == 1 || on_all > 0 || each_has_its_own));
}

BOOST_AUTO_TEST_CASE(a_narrower_process_is_believed) {
  ProcessorMask one;
  one.add(all.first());
  one.use_here();
  BOOST_TEST(detail::processors_of_process() == (std::getenv("OMP_PROC_BIND") == nullptr ? 1 : all.count()));
  all.use_here();
  BOOST_TEST(detail::processors_of_process() == all.count());
}

BOOST_AUTO_TEST_CASE(masks_of_many_processors) {
  ProcessorMask mask;
  BOOST_TEST(mask.count() == 0);
  BOOST_TEST(mask.first() == -1);
  mask.add(5000);
  mask.add(70);
  BOOST_TEST(mask.count() == 2);
  BOOST_TEST(mask.first() == 70);
  ProcessorMask more = mask;
  more.add(3);
  BOOST_TEST(mask.is_within(more));
  BOOST_TEST(!more.is_within(mask));
  BOOST_TEST(ProcessorMask().is_within(mask));
}

BOOST_AUTO_TEST_SUITE_END()
