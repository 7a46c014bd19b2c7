/// Plug-ins whose code uses the library while they are loaded, or make their executor. The plug-in tells what it met in
/// an environment variable. Each case runs in a process of its own.

#include <cstdlib>
#include <string>

#include <boost/test/unit_test.hpp>

#include <tessera/tessera.hpp>

#include "support/expect.hpp"

using namespace tessera;
using test::contains;

namespace {

void use(const char* folder) { setenv("TESSERA_PLUGIN_PATH", (std::string(PLUGIN_DIR) + "/" + folder).c_str(), 1); }

/// What the plug-in's own code had: a product on Auto, one on its own backend, and the list of backends.
void expect_what_it_met() {
  const char* const text = std::getenv("TESSERA_TEST_MET");
  const std::string met = text != nullptr ? text : "nothing";
  BOOST_TEST(contains(met, "auto: right"), met);
  BOOST_TEST(contains(met, "tbb: backend tbb is being loaded by this thread"), met);
  BOOST_TEST(contains(met, "reference: right"), met);
}

void expect_that_it_works() {
  const Matrix<float> a{{1, 2}, {3, 4}};
  BOOST_TEST((gemm(a, a, Backend::Tbb) == Matrix<float>{{7, 10}, {15, 22}}));
  BOOST_TEST((gemm(a, a) == Matrix<float>{{7, 10}, {15, 22}}));
  BOOST_TEST(executor(Backend::Tbb).capabilities().device == "borrowed from the reference");
}

} // namespace

BOOST_AUTO_TEST_SUITE(reentry)

BOOST_AUTO_TEST_CASE(a_constructor_for_a_named_backend) {
  use("uses_as_loaded");
  expect_that_it_works();
  expect_what_it_met();
}

BOOST_AUTO_TEST_CASE(a_constructor_for_the_best_backend) {
  use("uses_as_loaded");
  const Matrix<float> a{{1, 2}, {3, 4}};
  BOOST_TEST((gemm(a, a) == Matrix<float>{{7, 10}, {15, 22}}));
  expect_that_it_works();
  expect_what_it_met();
}

BOOST_AUTO_TEST_CASE(a_constructor_for_the_list_of_backends) {
  use("uses_as_loaded");
  BOOST_TEST(!available_backends().empty());
  expect_that_it_works();
  expect_what_it_met();
}

BOOST_AUTO_TEST_CASE(the_maker_of_the_executor) {
  use("uses_in_create");
  expect_that_it_works();
  expect_what_it_met();
}

BOOST_AUTO_TEST_SUITE_END()
