/// Tests how files are written: beside their target, under a name that no other user can guess, and whole or not at
/// all.

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <functional>
#include <thread>

#include <boost/test/unit_test.hpp>

#include <tessera/interop/io.hpp>
#include <tessera/status.hpp>

#include "support/expect.hpp"
#include "support/files.hpp"

namespace fs = std::filesystem;
using namespace tessera;
using namespace tessera::test;

namespace {

struct OutputFolder : Folder {
  fs::path target = path() / "a.txt";

  mode_t mode_of(const char* name) const {
    struct stat status {};
    return stat((path() / name).c_str(), &status) == 0 ? status.st_mode & 07777 : 0;
  }
};

/// Runs the action in a child process and returns its status as waitpid does. An exception is exit status 1.
int in_child(const std::function<void()>& action) {
  std::fflush(nullptr);
  const pid_t child = fork();
  BOOST_TEST_REQUIRE(child >= 0);
  if (child == 0) {
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    signal(SIGXFSZ, SIG_DFL); // Boost.Test would take the signal for a failed test of the child
    try {
      action();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
      _exit(1);
    }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

void limit_files(rlim_t bytes) {
  const rlimit limit{bytes, bytes};
  setrlimit(RLIMIT_FSIZE, &limit);
}

const std::string large(1 << 20, 'x');

} // namespace

BOOST_FIXTURE_TEST_SUITE(io_output, OutputFolder)

BOOST_AUTO_TEST_CASE(a_planted_link_overwrites_no_victim) {
  write("victim", "precious");
  for (const char* ending : {"", ".part"}) // names that could be foreseen
    fs::create_symlink(path() / "victim", path() / ("a.txt." + std::to_string(getpid()) + ending));
  write_text_file(target, "text");
  BOOST_TEST(read("victim") == "precious");
  BOOST_TEST(read("a.txt") == "text");
  BOOST_TEST(!fs::is_symlink(target));
}

BOOST_AUTO_TEST_CASE(mode_owner_and_group_are_kept) {
  write("a.txt", "old");
  if (geteuid() == 0) BOOST_TEST(chown(target.c_str(), 12345, 12346) == 0);
  BOOST_TEST(chmod(target.c_str(), 0640) == 0);
  struct stat before {
  }, after{};
  stat(target.c_str(), &before);
  write_text_file(target, "new");
  stat(target.c_str(), &after);
  BOOST_TEST(read("a.txt") == "new");
  BOOST_TEST((after.st_mode & 07777) == 0640u);
  BOOST_TEST(after.st_uid == before.st_uid);
  BOOST_TEST(after.st_gid == before.st_gid);
}

BOOST_AUTO_TEST_CASE(a_new_file_follows_the_umask) {
  const mode_t usual = umask(027);
  write_text_file(target, "text");
  umask(usual);
  BOOST_TEST(mode_of("a.txt") == 0640u);
}

BOOST_AUTO_TEST_CASE(what_a_killed_program_left_is_removed) {
  const int status = in_child([&] {
    limit_files(4096); // the signal SIGXFSZ kills the child in the middle of its file
    write_text_file(target, large);
  });
  BOOST_TEST_REQUIRE(WIFSIGNALED(status));
  BOOST_TEST_REQUIRE(names().size() == 1u); // the test is about this file
  write_text_file(path() / "b.txt", "text");
  BOOST_TEST(names() == std::vector<std::string>{"b.txt"}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_file_that_is_being_written_is_left_alone) {
  const char* names_to_keep[]{".a.txt.0123456789abcdef.tessera-part", ".a.txt.tessera-part", "a.part"};
  for (const char* name : names_to_keep) write(name, "text");
  write(".a.txt.fedcba9876543210.tessera-part", "");
  const int writer = open((path() / names_to_keep[0]).c_str(), O_WRONLY | O_CLOEXEC);
  BOOST_TEST(flock(writer, LOCK_EX) == 0);
  write_text_file(target, "text");
  close(writer);
  for (const char* name : names_to_keep) BOOST_TEST(fs::exists(path() / name), name);
  BOOST_TEST(names().size() == 4u);
}

BOOST_AUTO_TEST_CASE(of_two_writers_one_whole_file_stays) {
  std::atomic<int> writers{4};
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  write("a.txt", std::string(100000, 'a'));
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, text = std::string(100000, static_cast<char>('a' + i))] {
      try {
        for (int round = 0; round < 10; ++round) write_text_file(target, text);
      } catch (const IoError&) {
        ++failures;
      }
      --writers;
    });
  bool whole = true;
  do {
    const std::string text = read("a.txt");
    whole = whole && text.size() == 100000 && text.find_first_not_of(text.front()) == std::string::npos;
  } while (writers > 0);
  for (std::thread& thread : threads) thread.join();
  BOOST_TEST(failures == 0);
  BOOST_TEST(whole);
  BOOST_TEST(names() == std::vector<std::string>{"a.txt"}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_full_disk_says_that_it_is_full) {
  const Matrix<float> matrix(100, 100);
  expect_error<IoError>([&] { write_text_file("/dev/full", "text"); }, {"/dev/full", "No space left on device"});
  expect_error<IoError>([&] { save_csv("/dev/full", matrix); }, {"/dev/full", "No space left on device"});
  expect_error<IoError>([&] { save_npy("/dev/full", matrix); }, {"/dev/full", "No space left on device"});
  expect_error<IoError>([&] { save_npy("/dev/full", Matrix<f16>(1, 1)); }, {"/dev/full", "No space left on device"});
}

BOOST_AUTO_TEST_CASE(a_file_that_becomes_too_large_leaves_the_old_one) {
  write("a.txt", "old");
  const int status = in_child([&] {
    limit_files(4096);
    signal(SIGXFSZ, SIG_IGN);
    for (int form = 0; form < 3; ++form) try {
        if (form == 0) write_text_file(target, large);
        if (form == 1) save_npy(target, Matrix<double>(100, 100));
        if (form == 2) save_csv(target, Matrix<double>(100, 100));
        _exit(2 + form);
      } catch (const IoError& error) {
        if (!contains(error.what(), "File too large")) throw;
      }
  });
  BOOST_TEST(status == 0);
  BOOST_TEST(read("a.txt") == "old");
  BOOST_TEST(names() == std::vector<std::string>{"a.txt"}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(what_is_no_file_is_written_to_directly) {
  write_text_file("/dev/null", large);
  const fs::path pipe = path() / "pipe";
  BOOST_TEST(mkfifo(pipe.c_str(), 0600) == 0);
  check_writable(pipe); // does not wait for a reader
  std::string seen;
  std::thread reader([&] { seen = read("pipe"); });
  write_text_file(pipe, large);
  reader.join();
  BOOST_TEST((seen == large));
  BOOST_TEST(fs::is_fifo(pipe));
}

BOOST_AUTO_TEST_CASE(stdout_by_name_goes_on_where_it_is) {
  const int status = in_child([&] {
    const int out = open(target.c_str(), O_WRONLY | O_CREAT, 0600);
    dup2(out, STDOUT_FILENO);
    std::printf("one ");
    check_writable("/dev/stdout");
    write_text_file("/dev/stdout", "two ");
    write_text_file("/dev/fd/1", "three ");
    std::printf("four");
    std::fflush(stdout);
  });
  BOOST_TEST(status == 0);
  BOOST_TEST(read("a.txt") == "one two three four");
}

BOOST_AUTO_TEST_CASE(links_are_followed) {
  fs::create_directory(path() / "below");
  fs::create_symlink("below/real", target); // it points to no file yet
  fs::create_symlink("a.txt", path() / "second");
  write_text_file(path() / "second", "text");
  BOOST_TEST(read("below/real") == "text");
  BOOST_TEST(fs::is_symlink(target));
  BOOST_TEST(fs::is_symlink(path() / "second"));
  fs::create_symlink("loop", path() / "loop");
  expect_error<IoError>([&] { write_text_file(path() / "loop", ""); }, {"loop", "Too many levels"});
}

BOOST_AUTO_TEST_CASE(a_link_that_another_user_may_have_planted_is_refused) {
  if (geteuid() != 0) {
    BOOST_TEST_MESSAGE("skipped: only root can make another user's link");
    return;
  }
  write("victim", "precious");
  fs::create_directory(path() / "shared");
  BOOST_TEST(chmod((path() / "shared").c_str(), 01777) == 0);
  const fs::path link = path() / "shared" / "link";
  fs::create_symlink(path() / "victim", link);
  write_text_file(link, "mine");
  BOOST_TEST(read("victim") == "mine");
  BOOST_TEST(lchown(link.c_str(), 12345, 12345) == 0);
  expect_error<IoError>([&] { write_text_file(link, "text"); }, {"link", "another user"});
  BOOST_TEST(read("victim") == "mine");
}

BOOST_AUTO_TEST_CASE(names_as_long_as_names_can_be) {
  const std::string name(255, 'n');
  write_text_file(path() / name, "text");
  BOOST_TEST(read(name) == "text");
  expect_error<IoError>([&] { write_text_file(path() / (name + "n"), ""); }, {"File name too long"});
  expect_error<IoError>([&] { write_text_file(path() / "new" / "", ""); }, {"folder"});
  expect_error<IoError>([&] { write_text_file("", ""); }, {"without a name"});
}

BOOST_AUTO_TEST_SUITE_END()
