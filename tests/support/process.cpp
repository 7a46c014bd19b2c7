#include "process.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include <boost/test/unit_test.hpp>

extern char** environ;

namespace tessera::test {
namespace {

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> result;
  result.reserve(words.size() + 1);
  for (std::string& word : words) result.push_back(word.data());
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> environment_with(const Variables& variables) {
  std::vector<std::string> all;
  for (const auto& [name, value] : variables) all.push_back(std::string(name).append("=").append(value));
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::string name = text.substr(0, text.find('='));
    const bool replaced =
        std::any_of(variables.begin(), variables.end(), [&](const auto& variable) { return variable.first == name; });
    if (!replaced) all.push_back(text);
  }
  return all;
}

/// Opens a terminal and returns the end at which a test reads what programs write; -1 if there is none.
int open_terminal(unsigned short columns) {
  const int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (master < 0) return -1;
  const winsize size{24, columns, 0, 0};
  if (grantpt(master) == 0 && unlockpt(master) == 0 && ioctl(master, TIOCSWINSZ, &size) == 0) return master;
  close(master);
  return -1;
}

/// Returns the end at which a program writes, which adds nothing to ends of lines.
int writing_end(int master) {
  const int end = open(ptsname(master), O_RDWR | O_NOCTTY);
  termios settings{};
  tcgetattr(end, &settings);
  settings.c_oflag &= ~static_cast<tcflag_t>(OPOST);
  tcsetattr(end, TCSANOW, &settings);
  return end;
}

/// Reads until no program has the terminal open.
std::string read_terminal(int master) {
  std::string text;
  char bytes[4096];
  for (ssize_t count = 0; (count = read(master, bytes, sizeof bytes)) > 0;) text.append(bytes, bytes + count);
  return text;
}

} // namespace

boost::test_tools::assertion_result there_are_terminals(boost::unit_test::test_unit_id) {
  const int terminal = open_terminal(80);
  boost::test_tools::assertion_result result = terminal >= 0;
  if (terminal < 0) result.message() << "skipped: this machine gives no terminal (/dev/ptmx)";
  if (terminal >= 0) close(terminal);
  return result;
}

Process::Process(const std::string& program, const std::vector<std::string>& arguments,
                 const std::filesystem::path& folder, const Variables& variables, const Terminal* terminal) {
  if (terminal != nullptr) {
    terminal_ = open_terminal(terminal->columns);
    shows_errors_ = terminal->takes_errors;
    if (terminal_ < 0) throw std::runtime_error("no terminal");
  }
  // The test holds this end, too, until the program has it: before that, reading would find no writer.
  const int shown = terminal != nullptr ? writing_end(terminal_) : -1;
  std::vector<std::string> words{program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<std::string> environment = environment_with(variables);
  pid_ = fork();
  if (pid_ < 0) throw std::runtime_error("fork failed");
  if (pid_ > 0) {
    if (shown >= 0) close(shown);
    return;
  }
  // A test that runs in the background ignores SIGINT, and its children would ignore it too.
  std::signal(SIGINT, SIG_DFL);
  const int out = open((outputs_.path() / "out").c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
  const int err = open((outputs_.path() / "err").c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
  dup2(shown >= 0 && !shows_errors_ ? shown : out, STDOUT_FILENO);
  dup2(shown >= 0 && shows_errors_ ? shown : err, STDERR_FILENO);
  if (shown >= 0) close(shown);
  if (chdir(folder.c_str()) != 0) _exit(126);
  execve(program.c_str(), pointers(words).data(), pointers(environment).data());
  _exit(127);
}

Process::~Process() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    wait();
  }
}

void Process::send(int signal) const { kill(pid_, signal); }

Outcome Process::wait() {
  std::string shown;
  if (terminal_ >= 0) {
    shown = read_terminal(terminal_);
    close(terminal_);
  }
  int status = 0;
  rusage usage{};
  wait4(pid_, &status, 0, &usage);
  pid_ = -1;
  Outcome outcome{WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), outputs_.read("out"),
                  outputs_.read("err"), usage.ru_maxrss};
  if (terminal_ >= 0) (shows_errors_ ? outcome.err : outcome.out) = shown;
  terminal_ = -1;
  return outcome;
}

Outcome Programs::compare(const std::vector<std::string>& arguments, const Variables& variables) const {
  return Process(TESSERA_GEMM_COMPARE, arguments, folder.path(), variables).wait();
}
Outcome Programs::info(const std::vector<std::string>& arguments, const Variables& variables) const {
  return Process(TESSERA_INFO, arguments, folder.path(), variables).wait();
}

Outcome Programs::compare_in(const Terminal& terminal, const std::vector<std::string>& arguments,
                             const Variables& variables) const {
  return Process(TESSERA_GEMM_COMPARE, arguments, folder.path(), variables, &terminal).wait();
}

Outcome Programs::info_in(const Terminal& terminal, const std::vector<std::string>& arguments) const {
  return Process(TESSERA_INFO, arguments, folder.path(), {}, &terminal).wait();
}

Outcome Programs::bench(const std::vector<std::string>& arguments, const Variables& variables) const {
  return Process(TESSERA_BENCH, arguments, folder.path(), variables).wait();
}

void expect_usage_error(const Outcome& outcome, const std::vector<std::string>& parts) {
  BOOST_TEST(outcome.status == 2);
  BOOST_TEST(outcome.out == "");
  for (const std::string& part : parts)
    BOOST_TEST(contains(outcome.err, part), "'" << outcome.err << "' lacks '" << part << "'");
}

} // namespace tessera::test
