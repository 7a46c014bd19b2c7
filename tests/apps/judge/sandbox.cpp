/// Tests what a judged kernel can reach and hold. The kernels print what was not refused, and their C is wrong then.

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <termios.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "support/files.hpp"
#include "trial.hpp"

namespace tessera::judge::testing {
namespace {

/// Sets a variable of the environment for the kernel, while it lives.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) { setenv(name, value.c_str(), 1); }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

/// Does this machine lack a part of the sandbox?
bool lacks(const JudgeVerdict& verdict, const char* part) {
  return std::any_of(verdict.missing.begin(), verdict.missing.end(),
                     [&](const std::string& one) { return one.find(part) != std::string::npos; });
}

/// Judges a kernel that must be refused everything, where the machine has what refuses it.
void must_be_refused(const char* kernel, std::uint32_t without = 0) {
  BOOST_TEST_CONTEXT(kernel << " without " << without) {
    const JudgeVerdict verdict = try_kernel({.kernel = kernel, .without_layers = without});
    const bool guarded =
        !lacks(verdict, "seccomp") && ((without & LandlockFiles) != 0 || !lacks(verdict, "protection of files"));
    if (!guarded) BOOST_TEST_MESSAGE("this machine lacks " << verdict.missing.front());
    BOOST_TEST((verdict.passed() || !guarded), verdict.why << "\n" << verdict.output);
  }
}

/// Runs `step` in a process of its own. Returns whether it said true.
template <class Step>
bool in_a_process(Step&& step) {
  const pid_t child = fork();
  if (child == 0) _exit(step() ? 0 : 1);
  int status = 1;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

/// Containers that hide parts of /proc allow no other one.
bool proc_can_be_mounted() {
  return in_a_process([] {
    return unshare(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS) == 0 &&
           in_a_process([] { return mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) == 0; });
  });
}

} // namespace

BOOST_AUTO_TEST_SUITE(sandbox_suite)

BOOST_AUTO_TEST_CASE(every_other_system_call_is_refused) {
  for (const std::uint32_t without : {0U, +PidNamespace, +LandlockFiles}) {
    must_be_refused("refused_calls", without);
    must_be_refused("refused_arguments", without);
  }
}

BOOST_AUTO_TEST_CASE(other_processes_are_not_seen) {
  if (proc_can_be_mounted())
    must_be_refused("sees_others");
  else
    BOOST_TEST_MESSAGE("this machine allows no other /proc");
}

BOOST_AUTO_TEST_CASE(memory_cannot_be_hidden) {
  for (const std::uint32_t without : {0U, +PidNamespace}) must_be_refused("hides_memory", without);
}

BOOST_AUTO_TEST_CASE(a_file_keeps_its_mode_times_and_attributes) {
  const test::Folder folder; // outside of the kernel's scratch folder
  const std::string path = folder.path() / "file";
  std::ofstream(path) << "mine\n";
  BOOST_REQUIRE_EQUAL(chmod(path.c_str(), 0640), 0);
  const bool has_attributes = setxattr(path.c_str(), "user.mine", "yes", 3, 0) == 0;
  struct stat before {};
  struct stat after {};
  BOOST_REQUIRE_EQUAL(stat(path.c_str(), &before), 0);
  const Variable variable("TESSERA_TEST_FILE", path);
  for (const std::uint32_t without : {0U, +PidNamespace}) must_be_refused("changes_others", without);
  BOOST_REQUIRE_EQUAL(stat(path.c_str(), &after), 0);
  BOOST_CHECK_EQUAL(after.st_mode, before.st_mode);
  BOOST_CHECK_EQUAL(after.st_size, before.st_size);
  BOOST_CHECK_EQUAL(after.st_mtim.tv_sec, before.st_mtim.tv_sec);
  BOOST_CHECK_EQUAL(after.st_ctim.tv_sec, before.st_ctim.tv_sec);
  BOOST_CHECK_EQUAL(after.st_ctim.tv_nsec, before.st_ctim.tv_nsec);
  BOOST_CHECK_EQUAL(getxattr(path.c_str(), "user.mine", nullptr, 0), has_attributes ? 3 : -1);
}

BOOST_AUTO_TEST_CASE(a_server_hears_nothing) {
  const test::Folder folder; // outside of the kernel's scratch folder
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, (folder.path() / "server").c_str(), sizeof address.sun_path - 1);
  const int server = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  BOOST_REQUIRE_EQUAL(bind(server, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  const Variable variable("TESSERA_TEST_SOCKET", address.sun_path);
  std::array<char, 64> heard{};
  for (const std::uint32_t without : {0U, +PidNamespace, +LandlockFiles}) {
    must_be_refused("changes_others", without);
    BOOST_CHECK_EQUAL(recv(server, heard.data(), heard.size(), 0), -1);
  }
  close(server);
}

BOOST_AUTO_TEST_CASE(a_terminal_keeps_its_settings_and_its_input) {
  const int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0) {
    BOOST_TEST_MESSAGE("no terminal can be made here");
    return;
  }
  std::array<char, 128> name{};
  BOOST_REQUIRE_EQUAL(ptsname_r(master, name.data(), name.size()), 0);
  const int terminal = open(name.data(), O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  BOOST_REQUIRE_GE(terminal, 0);
  termios before{};
  termios after{};
  BOOST_REQUIRE_EQUAL(tcgetattr(terminal, &before), 0);
  BOOST_REQUIRE_EQUAL(write(master, "typed\n", 6), 6);
  const Variable variable("TESSERA_TEST_TERMINAL", name.data());
  for (const std::uint32_t without : {0U, +PidNamespace}) must_be_refused("changes_others", without);
  BOOST_REQUIRE_EQUAL(tcgetattr(terminal, &after), 0);
  BOOST_CHECK_EQUAL(after.c_lflag, before.c_lflag);
  std::array<char, 16> typed{};
  BOOST_CHECK_EQUAL(read(terminal, typed.data(), typed.size()), 6);
  close(terminal);
  close(master);
}

/// What lies in the scratch folder counts as memory, whether or not it has a name there.
BOOST_AUTO_TEST_CASE(files_count_as_memory) {
  for (const char* kernel : {"fills_scratch", "fills_scratch_deep"})
    for (const std::uint32_t without : {0U, +PidNamespace, +ScratchInMemory})
      BOOST_TEST_CONTEXT(kernel << " without " << without) {
        const JudgeVerdict verdict =
            try_kernel({.kernel = kernel, .memory_limit = std::size_t{64} << 20, .without_layers = without});
        BOOST_CHECK_EQUAL(verdict.offence, Offence::ExceedsMemory);
        BOOST_TEST(verdict.why.find(" in call 1, with ") != std::string::npos, verdict.why);
      }
}

/// POSIX shared memory is a part of the scratch folder. Without a name space of mounts there is none.
BOOST_AUTO_TEST_CASE(shared_memory_is_counted) {
  if (!proc_can_be_mounted()) return;
  const JudgeVerdict honest = try_kernel({.kernel = "uses_shared_memory"});
  BOOST_TEST(honest.passed(), honest.why << honest.output);
  const JudgeVerdict verdict = try_kernel({.kernel = "fills_shared_memory", .memory_limit = std::size_t{64} << 20});
  BOOST_CHECK_EQUAL(verdict.offence, Offence::ExceedsMemory);
  BOOST_TEST(verdict.why.find(" of them in files, in call 1, with 64 MiB") != std::string::npos, verdict.why);
}

/// The scratch folder has a limit of its own. Where it is in memory, Linux keeps it, and a write fails.
BOOST_AUTO_TEST_CASE(files_are_limited_without_a_limit_of_memory) {
  const JudgeVerdict on_disk =
      try_kernel({.kernel = "fills_scratch", .memory_limit = 0, .without_layers = PidNamespace});
  BOOST_CHECK_EQUAL(on_disk.offence, Offence::ExceedsMemory);
  BOOST_CHECK_EQUAL(on_disk.why, "its temporary files hold too much in call 1, with 256 MiB");
}

BOOST_AUTO_TEST_CASE(a_second_process_is_a_second_thread) {
  for (const std::uint32_t without : {0U, +PidNamespace}) BOOST_TEST_CONTEXT("without " << without) {
      const JudgeVerdict verdict = try_kernel({.kernel = "two_processes",
                                               .m = 128,
                                               .n = 128,
                                               .k = 128,
                                               .tolerance = 1e-4,
                                               .threads = 1,
                                               .without_layers = without});
      BOOST_CHECK_EQUAL(verdict.offence, Offence::UsesMoreThreads);
    }
}

/// The time of processes that have ended counts, also if their parent wants it forgotten. The kernel prints it.
BOOST_AUTO_TEST_CASE(the_time_of_every_process_counts) {
  for (const char* kernel : {"two_processes", "forgotten_processes"})
    for (const std::uint32_t without : {0U, +PidNamespace}) BOOST_TEST_CONTEXT(kernel << " without " << without) {
        const JudgeVerdict verdict = try_kernel({.kernel = kernel, .without_layers = without, .repeat = 30});
        if (lacks(verdict, "seccomp")) continue;
        BOOST_TEST(verdict.passed(), verdict.why);
        std::istringstream printed(verdict.output);
        const std::vector<double> second{std::istream_iterator<double>(printed), {}};
        BOOST_REQUIRE_GE(second.size(), verdict.processor_seconds.size());
        const double of_second =
            std::accumulate(second.begin(), second.end(), 0.0) / static_cast<double>(second.size());
        const auto& all = verdict.processor_seconds;
        const double of_both = std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(all.size());
        BOOST_TEST(of_both > 1.5 * of_second); // each does half of the work
      }
}

BOOST_AUTO_TEST_CASE(what_a_computation_needs_is_allowed) {
  for (const std::uint32_t without : {0U, +PidNamespace, +LandlockFiles, +SystemCallFilter, +ScratchInMemory,
                                      PidNamespace | LandlockFiles | SystemCallFilter})
    BOOST_TEST_CONTEXT("without " << without) {
      const JudgeVerdict verdict = try_kernel({.kernel = "honest_means", .without_layers = without});
      BOOST_TEST(verdict.passed(), verdict.why << "\n" << verdict.output);
    }
}

/// A process may end while the judge reads what /proc says of it.
BOOST_AUTO_TEST_CASE(short_lived_processes_are_no_fault) {
  for (const std::uint32_t without : {0U, +PidNamespace}) BOOST_TEST_CONTEXT("without " << without) {
      const JudgeVerdict verdict = try_kernel({.kernel = "many_short_processes", .without_layers = without});
      BOOST_TEST(verdict.passed(), verdict.why);
    }
}

/// The kernel's own files may lie in the folder of shared memory.
BOOST_AUTO_TEST_CASE(files_in_shared_memory_are_found) {
  const char* before = std::getenv("TMPDIR");
  const std::string folder = before != nullptr ? before : "";
  if (access("/dev/shm", W_OK) != 0) return;
  setenv("TMPDIR", "/dev/shm", 1);
  {
    const KernelFile file(EXAMPLE_FOLDER "/cpu_leetgpu.cpp", {}, {}); // which is compiled there
    const JudgeVerdict verdict = try_kernel({.kernel = file.library().c_str()});
    BOOST_TEST(verdict.passed(), verdict.why << verdict.output);
    BOOST_TEST(try_kernel({.kernel = "honest_means"}).passed());
  }
  if (before != nullptr)
    setenv("TMPDIR", folder.c_str(), 1);
  else
    unsetenv("TMPDIR");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::judge::testing
