/// Files, links and descriptors that another user, or a careless caller, has put where the library writes.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <fstream>

#include <boost/test/unit_test.hpp>

#include <tessera/backend/log.hpp>
#include <tessera/beyond_memory/file_product.hpp>
#include <tessera/interop/io.hpp>
#include <tessera/status.hpp>

#include "in_child.hpp"
#include "support/expect.hpp"
#include "support/files.hpp"

namespace tessera::test {
namespace {

namespace fs = std::filesystem;

struct Names : Folder {
  const fs::path target = path() / "c.npy", product = path() / ".c.npy.tessera-product",
                 journal = path() / ".c.npy.tessera-journal";
  Names() {
    save_npy(path() / "a.npy", Matrix<float>::random(64, 64, Seed{1}));
    write("victim", "precious");
  }
  void multiply(bool start_over = false) const {
    gemm_files({.a = path() / "a.npy",
                .b = path() / "a.npy",
                .out = target,
                .memory_limit = std::size_t{32} << 20,
                .start_over = start_over});
  }
  /// The product is refused with the file's name, whether it begins or starts over.
  void expect_refused(const fs::path& name) const {
    for (const bool start_over : {false, true}) {
      expect_error<IoError>([&] { multiply(start_over); }, {"c.npy", name.filename().string()});
      BOOST_TEST(read("victim") == "precious");
      BOOST_TEST(!fs::exists(target));
    }
    fs::remove(name);
  }
};

constexpr uid_t another_user = 12345;

boost::test_tools::assertion_result is_root(boost::unit_test::test_unit_id) {
  boost::test_tools::assertion_result result = geteuid() == 0;
  result.message() << "skipped: only root can become another user";
  return result;
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(planted, Names)

BOOST_AUTO_TEST_CASE(nothing_planted_is_written_into) {
  fs::create_hard_link(path() / "victim", product);
  expect_refused(product);
  fs::create_symlink(path() / "victim", product);
  expect_refused(product);
  BOOST_TEST(mkfifo(product.c_str(), 0600) == 0);
  expect_refused(product);
  multiply();
  BOOST_TEST(fs::exists(target));
}

/// The journal of a product that begins is a new file, which replaces what has its name.
BOOST_AUTO_TEST_CASE(a_planted_journal_is_replaced) {
  fs::create_hard_link(path() / "victim", journal);
  multiply();
  BOOST_TEST(read("victim") == "precious");
  BOOST_TEST(!fs::exists(journal));
}

BOOST_AUTO_TEST_CASE(other_hard_links_of_a_target_keep_the_old_contents) {
  fs::create_hard_link(path() / "victim", target);
  save_npy(target, Matrix<float>{{1}});
  BOOST_TEST(read("victim") == "precious");
  fs::remove(target);
  fs::create_hard_link(path() / "victim", target);
  multiply();
  BOOST_TEST(read("victim") == "precious");
}

/// A program that was started without standard streams gets their numbers for its files, and prints to them.
BOOST_AUTO_TEST_CASE(no_file_gets_the_number_of_a_standard_stream) {
  BOOST_TEST(is_well_in_child([&] {
    const int report = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 10);
    for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) close(number);
    bool well = true;
    {
      const std::string text(200000, 'x'); // more than the buffer holds, so that the file is open meanwhile
      write_text_file(path() / "text", text);
      well = well && read("text") == text;
    }
    setenv("TESSERA_LOG", "dispatch", 1); // what the library says of the plan must not get into the product
    multiply();
    const auto a = load_npy<float>(path() / "a.npy");
    well = well && load_npy<float>(target) == gemm(a, a, Backend::Reference);
    struct stat status {};
    for (const int number : {STDOUT_FILENO, STDERR_FILENO}) well = well && fstat(number, &status) != 0;
    dup2(report, STDERR_FILENO);
    return expect(well, "files have their own contents alone");
  }));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(other_users, Names, *boost::unit_test::precondition(is_root))

BOOST_AUTO_TEST_CASE(a_file_in_a_folder_that_takes_no_others) {
  const fs::path closed = path() / "closed";
  fs::create_directory(closed);
  write("closed/file", "old, and longer than the new contents");
  BOOST_TEST(chmod(path().c_str(), 0755) == 0);
  BOOST_TEST(chmod((closed / "file").c_str(), 0666) == 0);
  BOOST_TEST(is_well_in_child([&] {
    if (setuid(another_user) != 0) return false;
    check_writable(closed / "file");
    write_text_file(closed / "file", "new");
    if (!expect(read("closed/file") == "new", "the file is written over")) return false;
    try {
      check_writable(closed / "other");
      return expect(false, "a new file there is refused");
    } catch (const IoError& error) {
      return expect(contains(error.what(), "Permission denied"), error.what());
    }
  }));
  BOOST_TEST(read("closed/file") == "new");
}

BOOST_AUTO_TEST_CASE(a_file_of_another_user_in_a_shared_folder) {
  const fs::path shared = path() / "shared";
  fs::create_directory(shared);
  write("shared/file", "old");
  BOOST_TEST(chmod(path().c_str(), 0755) == 0);
  BOOST_TEST(chmod(shared.c_str(), 01777) == 0);
  BOOST_TEST(chmod((shared / "file").c_str(), 0666) == 0);
  BOOST_TEST(chown((shared / "file").c_str(), another_user + 1, another_user + 1) == 0);
  BOOST_TEST(is_well_in_child([&] {
    if (setuid(another_user) != 0) return false;
    for (const bool checks : {true, false}) try {
        checks ? check_writable(shared / "file") : write_text_file(shared / "file", "new");
        return expect(false, "the file is refused");
      } catch (const IoError& error) {
        if (!expect(contains(error.what(), "another user"), error.what())) return false;
      }
    return true;
  }));
  BOOST_TEST(read("shared/file") == "old");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::test
