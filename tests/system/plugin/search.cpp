/// The search for plug-ins, and Auto, which falls back where a named backend does not. Each case runs in a process of
/// its own.

#include <filesystem>

#include <boost/test/unit_test.hpp>

#include <tessera/tessera.hpp>

#include "core/backends/missing_plugin.hpp"
#include "support/expect.hpp"
#include "support/files.hpp"

using namespace tessera;
using tessera::test::expect_error;

namespace {

const std::string root = PLUGIN_DIR;

void search_in(const std::string& folders) { setenv("TESSERA_PLUGIN_PATH", folders.c_str(), 1); }

BackendInfo info_of(Backend backend) {
  for (const BackendInfo& info : available_backends())
    if (info.backend == backend) return info;
  throw std::logic_error("available_backends() lists every backend");
}

} // namespace

BOOST_AUTO_TEST_SUITE(search)

BOOST_AUTO_TEST_CASE(a_plugin_of_ones_own_works) {
  search_in(root + "/works");
  BOOST_TEST(info_of(Backend::Tbb).path == root + "/works/libtessera_tbb.so");
  BOOST_TEST(executor(Backend::Tbb).capabilities().device == "borrowed from the reference");
  const Matrix<float> a{{1, 2}, {3, 4}};
  BOOST_TEST((gemm(a, a, Backend::Tbb) == Matrix<float>{{7, 10}, {15, 22}}));
}

BOOST_AUTO_TEST_CASE(auto_falls_back_where_a_named_backend_never_does) {
  search_in(root + "/nothing_works");
  BOOST_TEST(&executor(Backend::Auto) == &executor(Backend::Reference));
  const Matrix<float> a{{1, 2}, {3, 4}};
  BOOST_TEST((gemm(a, a) == Matrix<float>{{7, 10}, {15, 22}}));
  for (const Backend backend : {Backend::Cuda, Backend::OpenMP, Backend::Tbb}) {
    expect_error<BackendUnavailable>([&] { static_cast<void>(gemm(a, a, backend)); },
                                     {to_string(backend), "there is no such device; plug one in"});
    BOOST_TEST(!gemm_kernels(backend).empty()); // the ladder can be listed all the same
  }
}

BOOST_AUTO_TEST_CASE(the_first_file_decides_also_if_it_is_broken) {
  search_in(root + "/not_a_library:" + root + "/works");
  const BackendInfo info = info_of(Backend::Tbb);
  BOOST_TEST(!info.available);
  BOOST_TEST(info.path == root + "/not_a_library/libtessera_tbb.so");
}

BOOST_AUTO_TEST_CASE(folders_that_are_not_there_are_passed_over) {
  search_in(":/nonexistent::" + root + "/empty:" + root + "/works:" + root + "/not_a_library");
  BOOST_TEST(info_of(Backend::Tbb).path == root + "/works/libtessera_tbb.so");
  BOOST_TEST(info_of(Backend::Tbb).available);
}

/// CTest runs this one in the folder `works`, which holds a plug-in.
BOOST_AUTO_TEST_CASE(the_current_directory_is_never_searched) {
  BOOST_REQUIRE(std::filesystem::exists("libtessera_tbb.so"));
  search_in(".:./:../works:");
  BOOST_TEST(info_of(Backend::Tbb).path != root + "/works/libtessera_tbb.so");
  BOOST_TEST(!test::contains(info_of(Backend::Tbb).path, "works"));
  BOOST_TEST(!test::contains(info_of(Backend::Tbb).reason, "./"));
}

/// CTest runs this one with a libtessera that has no plug-in beside it.
BOOST_AUTO_TEST_CASE(a_missing_file_is_reported_with_every_folder) {
  search_in(root + "/empty");
  const BackendInfo info = info_of(Backend::Tbb);
  BOOST_TEST(!info.built);
  BOOST_TEST(info.path == "");
  for (const std::string& part :
       {"(no libtessera_tbb.so in " + root + "/empty, " + root + "/alone, " + root + "/alone/tessera, ",
        std::string(" build")})
    BOOST_TEST(test::contains(info.reason, part), info.reason);
  BOOST_TEST(&executor(Backend::Auto) == &executor(Backend::Reference));
}

/// CTest runs this one in the folder of that libtessera, with LD_LIBRARY_PATH=., so that the loader knows the library
/// by a relative name.
BOOST_AUTO_TEST_CASE(a_plugin_beside_the_link_of_libtessera) {
  search_in(root + "/empty");
  const BackendInfo info = info_of(Backend::Tbb);
  BOOST_TEST(info.path == root + "/linked/libtessera_tbb.so", info.reason);
  BOOST_TEST(info.available, info.reason);
}

BOOST_AUTO_TEST_CASE(a_plugin_beside_the_file_of_libtessera) {
  search_in(root + "/empty");
  const BackendInfo info = info_of(Backend::Tbb);
  BOOST_TEST(info.path == root + "/together/libtessera_tbb.so", info.reason);
  BOOST_TEST(info.available, info.reason);
}

BOOST_AUTO_TEST_CASE(the_folder_beside_libtessera_is_the_one_it_was_loaded_from) {
  const test::Folder elsewhere; // it looks like a folder with a libtessera and a plug-in
  elsewhere.write("libtessera.so.0", "");
  std::filesystem::copy_file(root + "/works/libtessera_tbb.so", elsewhere.path() / "libtessera_tbb.so");
  std::filesystem::current_path(elsewhere.path());
  search_in(root + "/empty");
  const BackendInfo info = info_of(Backend::Tbb);
  std::filesystem::current_path("/");
  BOOST_TEST(info.path == "");
  BOOST_TEST(test::contains(info.reason, "no libtessera_tbb.so in " + root + "/empty, " + root + "/alone, "),
             info.reason);
}

/// The reason names what the user can do, as libtessera was built and installed.
BOOST_AUTO_TEST_CASE(what_is_said_of_a_missing_plugin) {
  struct Expected {
    Packaging packaging;
    Built cuda;
    std::vector<std::string> parts;
  };
  const std::string no_file = "(no libtessera_cuda.so)", no_file_there = "(no libtessera_cuda.so in /a, /b)";
  const std::vector<Expected> all{
      {Packaging::BuildOrPrefix, Built::NotFound, {"nvcc was not found", "install the CUDA toolkit", no_file}},
      {Packaging::BuildOrPrefix, Built::LeftOut, {"TESSERA_CUDA=OFF", "TESSERA_CUDA=ON", "nvcc", no_file}},
      {Packaging::BuildOrPrefix, Built::Yes, {"the target tessera_cuda", "TESSERA_PLUGIN_PATH", no_file_there}},
      {Packaging::Wheel, Built::NotFound, {"this wheel", "nvcc was not found", "./tessera wheel", no_file}},
      {Packaging::Wheel, Built::Yes, {"a file of this wheel", "install it again", no_file_there}},
      {Packaging::Debian, Built::NotFound, {"these Debian packages", "nvcc was not found", "./tessera deb", no_file}},
      {Packaging::Debian, Built::Yes, {"sudo apt install libtessera-cuda7", "./libtessera-cuda7_*.deb", no_file}}};
  for (const Expected& expected : all) {
    const PluginFacts plugins[]{
        {Built::Yes, "tbb", "TESSERA_TBB", "oneTBB", "oneTBB", "install it (Debian: libtbb-dev)", "", ""},
        {expected.cuda, "cuda", "TESSERA_CUDA", "CUDA", "nvcc", "install the CUDA toolkit (12.8 or later)",
         "to use an NVIDIA card, ", "libtessera-cuda7"}};
    const BuildFacts build{.plugins = plugins, .packaging = expected.packaging, .library_package = "libtessera7"};
    const auto said = [&](bool named_folders) {
      return missing_plugin(build, "cuda", "libtessera_cuda.so", "/a, /b", named_folders);
    };
    for (const std::string& part : expected.parts) BOOST_TEST(test::contains(said(false), part), said(false));
    BOOST_TEST(test::contains(said(true), no_file_there), said(true)); // TESSERA_PLUGIN_PATH names folders
  }
  PluginFacts tbb[]{
      {Built::NotFound, "tbb", "TESSERA_TBB", "oneTBB", "oneTBB", "install it (Debian: libtbb-dev)", "", ""}};
  BOOST_TEST(test::contains(missing_plugin({.plugins = tbb}, "tbb", "libtessera_tbb.so", "/a", false), "libtbb-dev"));
  tbb[0].built = Built::Yes;
  const BuildFacts packages{.plugins = tbb, .packaging = Packaging::Debian, .library_package = "libtessera7"};
  BOOST_TEST(test::contains(missing_plugin(packages, "tbb", "libtessera_tbb.so", "/a", false),
                            "apt install --reinstall libtessera7"));
  BOOST_TEST(missing_plugin({}, "mine", "libtessera_mine.so", "/a, /b", false) ==
             "no libtessera_mine.so in /a, /b; build it, or name its folder in TESSERA_PLUGIN_PATH");
}

BOOST_AUTO_TEST_SUITE_END()
