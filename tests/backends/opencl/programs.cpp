/// Compiled programs are kept between processes, and whatever is wrong with what was kept costs a compilation and
/// nothing else. CTest gives each case a folder of its own as XDG_CACHE_HOME, and a loader that counts.

#include <dlfcn.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include <tessera/files.hpp>

#include "children.hpp"
#include "support.hpp"

using namespace tessera;
using namespace tessera::opencl_test;
namespace fs = std::filesystem;

namespace {

fs::path cache() { return user_cache_folder() / "opencl"; }

/// How often the loader was asked for a program since the last call.
struct Loads {
  int sources = 0;  ///< that were compiled
  int binaries = 0; ///< that a device took
};

Loads new_loads() {
  static int before[2] = {};
  void* const loader = ::dlopen(std::getenv("TESSERA_OPENCL_LIBRARY"), RTLD_NOW | RTLD_NOLOAD);
  BOOST_TEST_REQUIRE(loader != nullptr);
  const auto total = [&](const char* name) { return *static_cast<int*>(::dlsym(loader, name)); };
  const int now[2] = {total("faulty_sources"), total("faulty_binaries")};
  const Loads since{now[0] - before[0], now[1] - before[1]};
  std::copy_n(now, 2, before);
  ::dlclose(loader);
  return since;
}

/// Multiplies on an executor that has compiled nothing yet, and checks the bits.
void multiply_anew() {
  static std::atomic<int> copies = 0;
  const Capabilities machine = executor(Backend::OpenCl).capabilities();
  Executor& device = executor(Backend::OpenCl, machine.device_index, ++copies);
  const std::vector<float> x = counted<float>(9);
  const OnDevice<float> a(device, x), b(device, x), c(device, std::vector<float>(9, 0.0f));
  throw_if_failed(device.gemm(device.default_queue(), {{.type = DType::F32,
                                                        .m = 3,
                                                        .n = 3,
                                                        .k = 3,
                                                        .a = a.data(),
                                                        .lda = 3,
                                                        .b = b.data(),
                                                        .ldb = 3,
                                                        .c = c.data(),
                                                        .ldc = 3}}));
  if (c.fetch() != std::vector<float>{15, 18, 21, 42, 54, 66, 69, 90, 111}) throw std::logic_error("other numbers");
}

/// How many programs a product needs.
int all_sources = 0;

/// Begins with an empty folder and fills it. Returns whether there is a device.
bool fill_cache() {
  if (!has_device()) return false;
  fs::remove_all(cache());
  multiply_anew();
  all_sources = new_loads().sources;
  BOOST_TEST(all_sources > 0);
  BOOST_TEST_REQUIRE(!fs::is_empty(cache()));
  return true;
}

/// Checks that an executor compiles everything, and nothing of what is kept is used.
void expect_compiled() {
  multiply_anew();
  BOOST_TEST(new_loads().sources == all_sources);
}

/// Checks that an executor compiles nothing.
void expect_kept() {
  multiply_anew();
  const Loads found = new_loads();
  BOOST_TEST(found.sources == 0);
  BOOST_TEST(found.binaries > 0);
}

std::vector<fs::path> kept_files() {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(cache())) files.push_back(entry.path());
  return files;
}

/// Changes the contents of each file, and checks that it is made anew.
template <class Change>
void expect_noticed(Change change) {
  for (const fs::path& file : kept_files()) {
    std::string contents = read_text_file(file);
    change(contents);
    std::ofstream(file, std::ios::binary | std::ios::trunc) << contents;
  }
  expect_compiled();
  expect_kept();
}

} // namespace

BOOST_AUTO_TEST_SUITE(programs)

BOOST_AUTO_TEST_CASE(kept) {
  if (!fill_cache()) return;
  expect_kept();
  struct stat folder {};
  BOOST_TEST_REQUIRE(::stat(cache().c_str(), &folder) == 0);
  BOOST_TEST((folder.st_mode & 0777) == 0700u);
  for (const fs::path& file : kept_files()) BOOST_TEST(file.extension() == ".bin", file << " was left behind");
}

BOOST_AUTO_TEST_CASE(damaged) {
  if (!fill_cache()) return;
  expect_noticed([](std::string& contents) { contents.clear(); });
  expect_noticed([](std::string& contents) { contents.resize(20); });
  expect_noticed([](std::string& contents) { contents.pop_back(); });
  expect_noticed([](std::string& contents) { contents += 'x'; });
  expect_noticed([](std::string& contents) { contents.back() ^= 1; });
  expect_noticed([](std::string& contents) { contents[contents.size() / 2] ^= 1; });
  for (std::size_t place : {0, 26, 34, 42}) // the magic, then each number
    expect_noticed([&](std::string& contents) { contents[place] ^= 1; });
}

/// A file under another program's name is whole, and yet not what the name says.
BOOST_AUTO_TEST_CASE(planted) {
  if (!fill_cache()) return;
  const Capabilities machine = executor(Backend::OpenCl).capabilities();
  Executor& device = executor(Backend::OpenCl, machine.device_index, 1000);
  const OnDevice<float> z(device, 4);
  throw_if_failed(device.map(device.default_queue(),
                             {.op = MapOp::Fill, .type = DType::F32, .rows = 2, .cols = 2, .z = z.data(), .ldz = 2}));
  const std::vector<fs::path> files = kept_files();
  BOOST_TEST_REQUIRE(files.size() > 1u);
  const std::string first = read_text_file(files[0]), second = read_text_file(files[1]);
  for (const fs::path& file : files) {
    const std::string& other = file == files[0] ? second : first;
    std::ofstream(file, std::ios::binary | std::ios::trunc) << other;
  }
  new_loads();
  expect_compiled();
  expect_kept();
}

/// A folder that others may write to, or that is a link, is neither read nor written.
BOOST_AUTO_TEST_CASE(folder_of_others) {
  if (!fill_cache()) return;
  for (const mode_t mode : {0777, 0770, 0755}) {
    BOOST_TEST_REQUIRE(::chmod(cache().c_str(), mode) == 0);
    expect_compiled();
  }
  BOOST_TEST_REQUIRE(::chmod(cache().c_str(), 0700) == 0);
  expect_kept();

  const fs::path aside = cache().string() + "-aside";
  fs::remove_all(aside);
  fs::rename(cache(), aside);
  fs::create_directory_symlink(aside, cache());
  expect_compiled();
  fs::remove(cache());
  if (::geteuid() == 0) {
    fs::rename(aside, cache());
    BOOST_TEST_REQUIRE(::chown(cache().c_str(), 1, 1) == 0);
    expect_compiled();
    fs::remove_all(cache());
  }
  fs::remove_all(aside);
}

/// Links and other users' files are not used, and are replaced.
BOOST_AUTO_TEST_CASE(files_of_others) {
  if (!fill_cache()) return;
  const fs::path aside = cache().string() + "-aside.bin";
  for (const fs::path& file : kept_files()) {
    fs::remove(aside);
    fs::rename(file, aside);
    fs::create_symlink(aside, file);
  }
  const std::string before = read_text_file(aside);
  expect_compiled();
  BOOST_TEST(read_text_file(aside) == before);
  expect_kept();
  fs::remove(aside);
  for (const fs::path& file : kept_files()) {
    fs::remove(file);
    BOOST_TEST_REQUIRE(::mkfifo(file.c_str(), 0600) == 0);
  }
  expect_compiled();
  expect_kept();
  if (::geteuid() != 0) return;
  for (const fs::path& file : kept_files()) BOOST_TEST_REQUIRE(::chown(file.c_str(), 1, 1) == 0);
  expect_compiled();
  expect_kept();
}

/// The driver refuses what was kept; CTest says when.
BOOST_AUTO_TEST_CASE(refused) {
  if (!fill_cache()) return;
  expect_compiled();
}

/// Nothing can be kept: no folder can be made, or the driver gives no binary.
BOOST_AUTO_TEST_CASE(nothing_kept) {
  if (!has_device()) return;
  multiply_anew();
  all_sources = new_loads().sources;
  BOOST_TEST(all_sources > 0);
  for (int turn = 0; turn < 2; ++turn) expect_compiled();
  BOOST_TEST(!fs::exists(cache()));
}

/// A file system of one page takes the folder and no program.
BOOST_AUTO_TEST_CASE(full_disk) {
  fs::remove_all(cache());
  fs::create_directories(cache().parent_path());
  constexpr int no_device = 3, no_mount = 4;
  const int status = in_child([] {
    if (!info().available) ::_exit(no_device);
    if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("tmpfs", cache().parent_path().c_str(), "tmpfs", 0, "size=4k") != 0)
      ::_exit(no_mount);
    for (int turn = 0; turn < 2; ++turn) {
      multiply_anew();
      const Loads found = new_loads();
      if (found.sources == 0) throw std::logic_error("a program was kept");
      if (!kept_files().empty()) throw std::logic_error("a part of a file was left");
    }
  });
  if (status == no_device) {
    BOOST_TEST_MESSAGE("SKIPPED: opencl is not available");
    return;
  }
  if (status == no_mount) {
    BOOST_TEST_MESSAGE("SKIPPED: this user mounts no file system");
    return;
  }
  BOOST_TEST(status == 0);
}

/// Threads, each with an executor of its own, begin with an empty folder at the same time.
BOOST_AUTO_TEST_CASE(several_threads) {
  if (!has_device()) return;
  fs::remove_all(cache());
  std::array<std::string, 4> failures;
  {
    std::vector<std::jthread> team;
    for (std::string& failure : failures)
      team.emplace_back([&failure] {
        try {
          for (int turn = 0; turn < 2; ++turn) multiply_anew();
        } catch (const std::exception& error) {
          failure = error.what();
        }
      });
  }
  for (const std::string& failure : failures) BOOST_TEST(failure == "");
  new_loads();
  expect_kept();
}

/// PoCL keeps programs itself, and other drivers' are kept.
BOOST_AUTO_TEST_CASE(kept_by_the_driver) {
  if (!has_device()) return;
  fs::remove_all(cache());
  multiply_anew();
  const bool is_pocl = executor(Backend::OpenCl).capabilities().driver.starts_with("Portable Computing Language");
  BOOST_TEST(fs::exists(cache()) != is_pocl);
}

BOOST_AUTO_TEST_CASE(none) {
  if (!has_device()) return;
  fs::remove_all(cache());
  multiply_anew();
  all_sources = new_loads().sources;
  BOOST_TEST(all_sources > 0);
  for (int turn = 0; turn < 2; ++turn) expect_compiled();
  BOOST_TEST(!fs::exists(cache()));
}

/// Several processes fill one folder, and read from it, at the same time.
BOOST_AUTO_TEST_CASE(several_processes) {
  fs::remove_all(cache());
  constexpr int no_device = 3;
  std::array<pid_t, 4> children{};
  for (pid_t& child : children)
    child = start_child([] {
      if (!info().available) ::_exit(no_device);
      for (int turn = 0; turn < 3; ++turn) multiply_anew();
    });
  bool lacks_device = false;
  for (const pid_t child : children) {
    const int status = status_of(child);
    BOOST_TEST((status == 0 || status == no_device));
    lacks_device = lacks_device || status == no_device;
  }
  if (lacks_device) {
    BOOST_TEST_MESSAGE("SKIPPED: opencl is not available");
    return;
  }
  for (const fs::path& file : kept_files()) BOOST_TEST(file.extension() == ".bin", file << " was left behind");
  expect_kept();
}

BOOST_AUTO_TEST_SUITE_END()
