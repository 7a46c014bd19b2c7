/// How a library of operations is loaded, and what is said of one that cannot be used.

#include <string>

#include <boost/test/unit_test.hpp>

#include <tessera/backend.hpp>
#include <tessera/status.hpp>
#include <tessera/user_kernel/operation_table.hpp>

#include "support/expect.hpp"

namespace tessera::test {
namespace {

std::span<const OperationEntry> load(const std::string& folder, const std::string& file) {
  return load_operations(LIBRARY_DIR "/" + folder + "/lib" + file + ".so");
}

/// Runs a twin on 4 elements, the last of which is 3, and returns the last result.
float run_twin(const OperationEntry& entry, Executor& e) {
  void *from = nullptr, *to = nullptr;
  throw_if_failed(e.allocate(16, from));
  throw_if_failed(e.allocate(16, to));
  const float in[] = {0, 1, 2, 3};
  throw_if_failed(e.copy_in(e.default_queue(), from, 16, in, 16, 16, 1));
  const ArrayPlace places[] = {{from, 1, 4, 4}, {to, 1, 4, 4}};
  OperationValue value;
  throw_if_failed(entry.run({e, e.default_queue(), {1, 4, 1}, 0, places, value}));
  float out[4];
  throw_if_failed(e.copy_out(e.default_queue(), out, 16, to, 16, 16, 1));
  e.free(from);
  e.free(to);
  return out[3];
}

BOOST_AUTO_TEST_SUITE(loading)

BOOST_AUTO_TEST_CASE(what_cannot_be_used_says_why) {
  expect_error<IoError>([] { load("nowhere", "broken"); },
                        {"there is no library of operations", "nowhere/libbroken.so"});
  expect_error<IoError>([] { load_operations(LIBRARY_DIR); }, {"there is no library of operations"});
  expect_error<IoError>([] { load_operations(""); }, {"there is no library of operations"});
  expect_error<InvalidArgument>([] { load("not_a_library", "broken"); }, {"cannot load", "not_a_library/libbroken.so"});
  expect_error<InvalidArgument>([] { load("no_symbol", "broken"); },
                                {"no_symbol/libbroken.so", "TESSERA_OPERATIONS", "does not export tessera_operations"});
  expect_error<InvalidArgument>([] { load("null_table", "broken"); }, {"it has no table"});
  expect_error<InvalidArgument>([] { load("wrong_abi", "broken"); }, {"plug-in ABI", "rebuild"});
  expect_error<InvalidArgument>([] { load("wrong_size", "broken"); }, {"its OperationTable has", "rebuild"});
  expect_error<InvalidArgument>([] { load("wrong_tag", "broken"); }, {"another-standard-library"});
}

BOOST_AUTO_TEST_CASE(a_library_is_loaded_once) {
  BOOST_TEST(load("odd", "odd").data() == load("odd", "odd").data());
  BOOST_TEST(load("odd", "odd").size() == 10u);
}

BOOST_AUTO_TEST_CASE(libraries_with_the_same_names_in_them_are_apart) {
  const OperationEntry &first = load("twin1", "twin")[0], &second = load("twin2", "twin")[0];
  BOOST_TEST(first.name == std::string("first_twin"));
  BOOST_TEST(second.name == std::string("second_twin"));
  Executor& host = executor(Backend::Reference);
  BOOST_TEST(run_twin(first, host) == 30);
  BOOST_TEST(run_twin(second, host) == 60);
  Executor& device = executor(Backend::Cuda); // a stand-in; each library has "device code" of its own
  BOOST_TEST(run_twin(first, device) == 31);
  BOOST_TEST(run_twin(second, device) == 62);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace tessera::test
