#include "process.hpp"

#include <fcntl.h>
#include <sys/wait.h>
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

} // namespace

Process::Process(const std::string& program, const std::vector<std::string>& arguments,
                 const std::filesystem::path& folder, const Variables& variables) {
  std::vector<std::string> words{program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<std::string> environment = environment_with(variables);
  pid_ = fork();
  if (pid_ < 0) throw std::runtime_error("fork failed");
  if (pid_ > 0) return;
  // A test that runs in the background ignores SIGINT, and its children would ignore it too.
  std::signal(SIGINT, SIG_DFL);
  const int out = open((outputs_.path() / "out").c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
  const int err = open((outputs_.path() / "err").c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
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
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = -1;
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), outputs_.read("out"), outputs_.read("err")};
}

Outcome Programs::compare(const std::vector<std::string>& arguments, const Variables& variables) const {
  return Process(TESSERA_GEMM_COMPARE, arguments, folder.path(), variables).wait();
}
Outcome Programs::info(const std::vector<std::string>& arguments, const Variables& variables) const {
  return Process(TESSERA_INFO, arguments, folder.path(), variables).wait();
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
