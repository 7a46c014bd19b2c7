/// Broken plug-ins: available_backends() and the exception both say exactly what is wrong. Each case is one fault, and
/// runs in a process of its own.

#include <boost/test/unit_test.hpp>

#include <tessera/backend.hpp>
#include <tessera/backend/plugin.hpp>
#include <tessera/tessera.hpp>

#include "support/expect.hpp"

using namespace tessera;
using tessera::test::expect_error;

namespace {

struct Expectation {
  bool loaded = false; ///< the file is accepted as a plug-in, and the fault shows later
  std::string reason;
};

/// Searches the fault's folder first. The plug-in there is called tbb. Unavailable is what a call that names it throws.
template <class Unavailable = BackendUnavailable>
void check(const std::string& fault, const Expectation& expected) {
  const std::string folder = std::string(PLUGIN_DIR) + "/" + fault;
  setenv("TESSERA_PLUGIN_PATH", folder.c_str(), 1);
  const std::string path = folder + "/libtessera_tbb.so";
  for (const BackendInfo& info : available_backends()) {
    if (info.backend != Backend::Tbb) continue;
    BOOST_TEST(!info.available);
    BOOST_TEST(info.built == expected.loaded);
    BOOST_TEST(info.path == path);
    BOOST_TEST(info.reason == expected.reason);
  }
  for (int twice = 0; twice < 2; ++twice)
    expect_error<Unavailable>([] { static_cast<void>(executor(Backend::Tbb)); },
                              {"backend tbb is not available: " + expected.reason});
  const Matrix<float> unit = Matrix<float>::identity(2);
  expect_error<Unavailable>([&] { static_cast<void>(gemm(unit, unit, Backend::Tbb)); }, {expected.reason});
  BOOST_TEST(gemm_kernels(Backend::Tbb).empty() == !expected.loaded);
  BOOST_TEST((gemm(unit, unit) == unit)); // the other backends still work
}

std::string unusable(const std::string& fault, const std::string& why) {
  return "cannot use " + std::string(PLUGIN_DIR) + "/" + fault + "/libtessera_tbb.so: " + why;
}

} // namespace

BOOST_AUTO_TEST_SUITE(faults)

BOOST_AUTO_TEST_CASE(wrong_abi) {
  const std::string other = std::to_string(plugin_abi_version + 1);
  check("wrong_abi",
        {false,
         unusable("wrong_abi", "it was built for plug-in ABI " + other + ", this libtessera has ABI " +
                                   std::to_string(plugin_abi_version) + "; rebuild the plug-in against this version")});
}
BOOST_AUTO_TEST_CASE(wrong_size) {
  check("wrong_size",
        {false, unusable("wrong_size", "its PluginInfo has " + std::to_string(sizeof(PluginInfo) + 8) +
                                           " bytes, this libtessera expects " + std::to_string(sizeof(PluginInfo)) +
                                           "; rebuild the plug-in against this version")});
}
BOOST_AUTO_TEST_CASE(wrong_tag) {
  check("wrong_tag",
        {false, unusable("wrong_tag", "it was built with 'another-standard-library', this libtessera with '" +
                                          std::string(TESSERA_BUILD_TAG) +
                                          "'; build both with the same compiler family and standard library")});
}
BOOST_AUTO_TEST_CASE(wrong_name) {
  check("wrong_name", {false, unusable("wrong_name", "it calls itself 'opencl', not 'tbb'; is the file misnamed?")});
}
BOOST_AUTO_TEST_CASE(no_symbol) {
  check("no_symbol",
        {false, std::string(PLUGIN_DIR) +
                    "/no_symbol/libtessera_tbb.so is not a Tessera plug-in: it does not export tessera_plugin"});
}
BOOST_AUTO_TEST_CASE(null_info) { check("null_info", {false, unusable("null_info", "its entry point returned null")}); }
BOOST_AUTO_TEST_CASE(null_function) {
  check("null_function", {false, unusable("null_function", "one of its functions is null")});
}
BOOST_AUTO_TEST_CASE(throws_in_probe) {
  check("throws_in_probe", {true, "plug-in tbb: probe threw: the probe fell over"});
}
BOOST_AUTO_TEST_CASE(throws_in_create) {
  check("throws_in_create", {true, "plug-in tbb: create threw: create fell over"});
}
BOOST_AUTO_TEST_CASE(throws_an_int) {
  check("throws_an_int", {true, "plug-in tbb: create threw: something that is not a std::exception"});
}
BOOST_AUTO_TEST_CASE(probe_fails) { check("probe_fails", {true, "there is no such device; plug one in"}); }
BOOST_AUTO_TEST_CASE(create_fails) { check<OutOfMemory>("create_fails", {true, "no memory for the work queue"}); }
BOOST_AUTO_TEST_CASE(create_makes_nothing) {
  check("create_makes_nothing", {true, "plug-in tbb: create made no executor and gave no reason"});
}
BOOST_AUTO_TEST_CASE(not_a_library) {
  const std::string path = std::string(PLUGIN_DIR) + "/not_a_library/libtessera_tbb.so";
  check("not_a_library", {false, "cannot load " + path + ": " + path + ": file too short"});
}

BOOST_AUTO_TEST_SUITE_END()
