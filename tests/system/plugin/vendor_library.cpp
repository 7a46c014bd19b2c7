/// Where the CUDA plug-in looks for cuBLAS. Another small library has cuBLAS's name here.

#include <dlfcn.h>
#include <link.h>

#include <filesystem>
#include <string>

#include <boost/test/unit_test.hpp>

#include "cuda/device/vendor_library.hpp"
#include "support/captured_errors.hpp"
#include "support/expect.hpp"
#include "support/files.hpp"

using tessera::test::Environment;

BOOST_AUTO_TEST_SUITE(vendor_library)

BOOST_AUTO_TEST_CASE(the_folders_of_the_path_come_first_and_a_named_file_decides) {
  const tessera::test::Folder folder;
  const std::filesystem::path file = folder.path() / "libstand_in.so.13";
  std::filesystem::copy_file(std::string(PLUGIN_DIR) + "/works/libtessera_tbb.so", file);
  const tessera::cuda::VendorLibrary wanted{"a stand-in", "TESSERA_STAND_IN", "libstand_in"};
  std::string missing;
  BOOST_TEST(tessera::cuda::open_library(wanted, missing) == nullptr);
  BOOST_TEST(tessera::test::contains(missing, "a stand-in was not found"), missing);

  const std::string path = ":relative:/nonexistent:" + folder.path().string();
  const Environment folders("TESSERA_CUBLAS_PATH", path.c_str());
  std::string said;
  {
    const tessera::test::CapturedErrors errors;
    static_cast<void>(tessera::cuda::open_library(wanted, missing));
    static_cast<void>(tessera::cuda::open_library(wanted, missing));
    said = errors.text();
  }
  BOOST_TEST(said ==
             "tessera: TESSERA_CUBLAS_PATH: 'relative' is relative and is passed over; write the whole path, from "
             "/ on\ntessera: TESSERA_CUBLAS_PATH: '/nonexistent' is passed over: No such file or directory\n");
  void* library = tessera::cuda::open_library(wanted, missing);
  BOOST_REQUIRE(library != nullptr);
  const link_map* opened = nullptr;
  BOOST_REQUIRE(dlinfo(library, RTLD_DI_LINKMAP, &opened) == 0);
  BOOST_TEST(std::string(opened->l_name) == file.string());

  const tessera::cuda::VendorLibrary other{"a stand-in", "TESSERA_STAND_IN", "libstand_in", 12, "stand-in"};
  BOOST_TEST(tessera::cuda::open_library(other, missing) == nullptr); // versions 12 and 11 of it
  BOOST_TEST(tessera::test::contains(missing, "libstand_in.so.12 or .11 is (Python: pip install stand-in)"), missing);
  std::filesystem::rename(file, folder.path() / "libstand_in.so.11");
  BOOST_TEST(tessera::cuda::open_library(other, missing) != nullptr);

  const Environment named("TESSERA_STAND_IN", "/nonexistent/libstand_in.so.13");
  BOOST_TEST(tessera::cuda::open_library(wanted, missing) == nullptr);
  BOOST_TEST(tessera::test::contains(missing, "TESSERA_STAND_IN=/nonexistent/libstand_in.so.13"), missing);
}

BOOST_AUTO_TEST_SUITE_END()
