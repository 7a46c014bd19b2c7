/// Targets that no other file can take the place of: single files that are mounted, as containers have them. Each case
/// mounts them in a child with mounts of its own.

#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <boost/test/unit_test.hpp>

#include <tessera/beyond_memory/file_product.hpp>
#include <tessera/interop/io.hpp>
#include <tessera/status.hpp>

#include "in_child.hpp"
#include "support/expect.hpp"
#include "support/files.hpp"

namespace tessera::test {
namespace {

namespace fs = std::filesystem;

bool has_own_mounts() {
  return unshare(CLONE_NEWNS) == 0 && mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

bool mount_file(const fs::path& file, const fs::path& at) {
  return mount(file.c_str(), at.c_str(), nullptr, MS_BIND, nullptr) == 0;
}

boost::test_tools::assertion_result files_can_be_mounted(boost::unit_test::test_unit_id) {
  const Folder folder;
  folder.write("a", "");
  folder.write("b", "");
  boost::test_tools::assertion_result result =
      is_well_in_child([&] { return has_own_mounts() && mount_file(folder.path() / "a", folder.path() / "b"); });
  result.message() << "skipped: this user may not mount files";
  return result;
}

/// A folder of the host's, and a file of it that is mounted in another folder.
struct Mounted : Folder {
  const fs::path real = path() / "host" / "file", target = path() / "inside" / "file";
  Mounted() {
    fs::create_directory(path() / "host");
    fs::create_directory(path() / "inside");
    write("host/file", "the old contents, which are longer than the new ones");
    write("inside/file", "what is mounted over");
  }
  bool mount_it() const { return expect(has_own_mounts() && mount_file(real, target), "the file is mounted"); }
  bool is_clean() const {
    return expect(std::distance(fs::directory_iterator(path() / "inside"), fs::directory_iterator()) == 1 &&
                      std::distance(fs::directory_iterator(path() / "host"), fs::directory_iterator()) == 1,
                  "nothing is left beside the file");
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(mounted, Mounted, *boost::unit_test::precondition(files_can_be_mounted))

BOOST_AUTO_TEST_CASE(every_writer_writes_over_them) {
  BOOST_TEST(is_well_in_child([&] {
    const auto matrix = Matrix<float>::random(20, 30, Seed{1});
    if (!mount_it()) return false;
    check_writable(target);
    if (!expect(read("host/file").starts_with("the old"), "a check leaves the contents")) return false;
    write_text_file(target, "new");
    if (!expect(read("host/file") == "new" && read("inside/file") == "new", "a text is written")) return false;
    save_npy(target, matrix);
    if (!expect(load_npy<float>(real) == matrix, "a .npy file is written")) return false;
    save_csv(target, matrix);
    if (!expect(load_csv<float>(real) == matrix, "a .csv file is written")) return false;
    const fs::path link = path() / "link";
    fs::create_symlink(target, link);
    write_text_file(link, "by a link");
    return expect(read("host/file") == "by a link" && fs::is_symlink(link), "a link is followed") && is_clean();
  }));
  BOOST_TEST(read("inside/file") == "what is mounted over");
}

BOOST_AUTO_TEST_CASE(a_full_disk_loses_nothing) {
  BOOST_TEST(is_well_in_child([&] {
    if (!has_own_mounts()) return false;
    fs::create_directory(path() / "disk");
    if (mount("tmpfs", (path() / "disk").c_str(), "tmpfs", 0, "size=64k") != 0) return false;
    write("disk/file", "old");
    if (!expect(mount_file(path() / "disk" / "file", target), "the file is mounted")) return false;
    try {
      write_text_file(target, std::string(1 << 20, 'x'));
      return expect(false, "a full disk is an error");
    } catch (const IoError& error) {
      if (!expect(contains(error.what(), "No space left on device"), error.what())) return false;
    }
    return expect(read("disk/file") == "old", "the old contents are there");
  }));
}

BOOST_AUTO_TEST_CASE(what_may_not_be_written_to_is_refused_at_the_start) {
  BOOST_TEST(is_well_in_child([&] {
    if (!mount_it() || mount(nullptr, target.c_str(), nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY, nullptr) != 0)
      return false;
    try {
      check_writable(target);
      return expect(false, "a file that is mounted for reading is refused");
    } catch (const IoError& error) {
      return expect(contains(error.what(), "Read-only file system"), error.what());
    }
  }));
}

BOOST_AUTO_TEST_CASE(a_product_of_files_refuses_them_before_it_begins) {
  save_npy(path() / "a.npy", Matrix<float>::random(60, 60, Seed{1}));
  BOOST_TEST(is_well_in_child([&] {
    if (!mount_it()) return false;
    const FileProduct product{
        .a = path() / "a.npy", .b = path() / "a.npy", .out = target, .memory_limit = std::size_t{32} << 20};
    try {
      gemm_files(product);
      return expect(false, "the output is refused");
    } catch (const IoError& error) {
      return expect(contains(error.what(), "mount point") && contains(error.what(), target.string()), error.what()) &&
             is_clean();
    }
  }));
  BOOST_TEST(read("host/file").starts_with("the old"));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::test
