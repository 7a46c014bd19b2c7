/// A backend of another author in C++. Each case runs in a process of its own.

#include <algorithm>
#include <thread>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <tessera/tessera.hpp>

#include "support/expect.hpp"

using namespace tessera;
using tessera::test::expect_error;

namespace {

const std::string root = PLUGIN_DIR;
constexpr auto last_built_in = static_cast<int>(built_in_backends.size());

void search_in(const std::string& folders) { setenv("TESSERA_PLUGIN_PATH", folders.c_str(), 1); }

std::vector<std::string> known_names() {
  std::vector<std::string> names;
  for (const Backend backend : known_backends()) names.emplace_back(to_string(backend));
  return names;
}

bool knows(const std::string& name) {
  const std::vector<std::string> names = known_names();
  return std::count(names.begin(), names.end(), name) == 1;
}

BackendInfo info_of(Backend backend) {
  for (const BackendInfo& info : available_backends())
    if (info.backend == backend) return info;
  throw std::logic_error("available_backends() lists every backend");
}

} // namespace

BOOST_AUTO_TEST_SUITE(standin)

BOOST_AUTO_TEST_CASE(a_name_is_a_backend) {
  search_in(root + "/standin");
  const Backend standin = parse_backend("standin");
  BOOST_TEST(static_cast<int>(standin) == last_built_in + 1);
  BOOST_TEST(to_string(standin) == "standin");
  BOOST_TEST((parse_backend("standin") == standin));
  BOOST_TEST((memory_of(standin) == Memory::Host));
  BOOST_TEST((executor(standin).capabilities().backend == standin));
  BOOST_TEST(gemm_kernels(standin).size() == 2u);
  const Matrix<float> a{{1, 2}, {3, 4}};
  BOOST_TEST((gemm(a, a, standin) == Matrix<float>{{7, 10}, {15, 22}}));
  expect_error<InvalidArgument>([&] { static_cast<void>(gemm(a, a, {.backend = standin, .kernel = "delegate"})); },
                                {"on backend standin; did you mean 'delegated'?"});
  const BackendInfo info = info_of(standin);
  BOOST_TEST((info.built && info.available && info.reason.empty()));
  BOOST_TEST(info.path == root + "/standin/libtessera_standin.so");
}

BOOST_AUTO_TEST_CASE(a_folder_of_the_path_is_listed_and_auto_leaves_it_alone) {
  search_in(root + "/standin");
  BOOST_TEST(knows("standin"));
  const std::vector<BackendInfo> all = available_backends();
  BOOST_TEST(to_string(all.back().backend) == "standin"); // after all that Auto takes
  BOOST_TEST(all.back().available);
  BOOST_TEST((executor(Backend::Auto).capabilities().backend != all.back().backend));
}

BOOST_AUTO_TEST_CASE(auto_takes_one_that_asks_for_it) {
  search_in(root + "/eager");
  BOOST_TEST(to_string(executor(Backend::Auto).capabilities().backend) == "eager");
  BOOST_TEST(to_string(available_backends().front().backend) == "eager");
  const Matrix<float> a{{1, 2}, {3, 4}};
  BOOST_TEST((gemm(a, a) == Matrix<float>{{7, 10}, {15, 22}}));
}

BOOST_AUTO_TEST_CASE(a_word_without_a_plugin_is_unknown_and_says_why) {
  search_in(root + "/standin");
  expect_error<InvalidArgument>(
      [] { static_cast<void>(parse_backend("standing")); },
      {"unknown backend 'standing'", "did you mean 'standin'?", "auto reference openmp tbb cuda opencl standin",
       "no libtessera_standing.so in " + root, "TESSERA_PLUGIN_PATH"});
  for (const char* odd : {"../standin", "Standin", "stand-in", "", "/etc/passwd"})
    expect_error<InvalidArgument>([&] { static_cast<void>(parse_backend(odd)); }, {"unknown backend '"});
  expect_error<InvalidArgument>([] { static_cast<void>(executor(static_cast<Backend>(77))); }, {"77"});
  expect_error<InvalidArgument>([] { static_cast<void>(memory_of(Backend::Auto)); }, {"auto"});
}

BOOST_AUTO_TEST_CASE(a_library_that_is_no_plugin_is_passed_over) {
  search_in(root + "/no_plugin");
  BOOST_TEST(known_backends().size() == built_in_backends.size());
  expect_error<InvalidArgument>([] { static_cast<void>(parse_backend("blas")); },
                                {"unknown backend 'blas'", "is not a Tessera plug-in: it does not export"});
}

BOOST_AUTO_TEST_CASE(one_that_is_broken_is_listed_with_its_reason) {
  search_in(root + "/broken_standin");
  const Backend misnamed = parse_backend("misnamed");
  expect_error<BackendUnavailable>([&] { static_cast<void>(executor(misnamed)); },
                                   {"backend misnamed is not available", "it calls itself 'standin', not 'misnamed'"});
  const BackendInfo text = info_of(parse_backend("text"));
  BOOST_TEST((!text.built && !text.available));
  BOOST_TEST(test::contains(text.reason, "cannot load " + root + "/broken_standin/libtessera_text.so"), text.reason);
  expect_error<BackendUnavailable>([] { static_cast<void>(executor(parse_backend("denies"))); },
                                   {"its executor's memory is a device's", "declared with the host's"});
}

BOOST_AUTO_TEST_CASE(a_folder_that_is_named_later_is_searched_too) {
  search_in(root + "/empty");
  expect_error<InvalidArgument>([] { static_cast<void>(parse_backend("standin")); }, {"unknown backend 'standin'"});
  search_in(root + "/standin");
  BOOST_TEST(knows("standin"));
  search_in(root + "/empty");
  BOOST_TEST(knows("standin")); // for the process
}

BOOST_AUTO_TEST_CASE(threads_find_one_backend) {
  search_in(root + "/standin:" + root + "/eager");
  std::vector<Backend> found(16, Backend::Auto);
  std::vector<Executor*> made(found.size(), nullptr);
  std::vector<std::thread> threads;
  threads.reserve(found.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    threads.emplace_back([&, i] {
      if (i % 4 == 1) static_cast<void>(available_backends());
      found[i] = parse_backend(i % 2 == 0 ? "standin" : "eager");
      made[i] = &executor(found[i]);
    });
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 2; i < found.size(); ++i) {
    BOOST_TEST((found[i] == found[i - 2]));
    BOOST_TEST(made[i] == made[i - 2]);
  }
  BOOST_TEST(known_backends().size() == built_in_backends.size() + 2);
}

BOOST_AUTO_TEST_SUITE_END()
