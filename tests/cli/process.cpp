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
  for (std::string& word : words) result.push_back(word.data());
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> environment_with(const Variables& variables) {
  std::vector<std::string> all;
  for (const auto& [name, value] : variables) all.push_back(name + "=" + value);
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
  static int number = 0;
  const std::string prefix = "/tmp/tessera_cli_" + std::to_string(getpid()) + "_" + std::to_string(number++);
  out_ = prefix + ".out";
  err_ = prefix + ".err";
  std::vector<std::string> words{program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<std::string> environment = environment_with(variables);
  pid_ = fork();
  if (pid_ < 0) throw std::runtime_error("fork failed");
  if (pid_ > 0) return;
  // A test run in the background ignores SIGINT, and so would its children.
  std::signal(SIGINT, SIG_DFL);
  const int out = open(out_.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
  const int err = open(err_.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
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
  const Outcome outcome{WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read_file(out_),
                        read_file(err_)};
  std::filesystem::remove(out_);
  std::filesystem::remove(err_);
  return outcome;
}

Folder::Folder() {
  std::string name = "/tmp/tessera_cli_XXXXXX";
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
  path_ = name;
}
Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::vector<std::string> Folder::files() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path_))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

Outcome Programs::compare(const std::vector<std::string>& arguments, const Variables& variables) const {
  return Process(TESSERA_GEMM_COMPARE, arguments, folder.path(), variables).wait();
}
Outcome Programs::info(const std::vector<std::string>& arguments, const Variables& variables) const {
  return Process(TESSERA_INFO, arguments, folder.path(), variables).wait();
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

void expect_usage_error(const Outcome& outcome, const std::vector<std::string>& parts) {
  BOOST_TEST(outcome.status == 2);
  BOOST_TEST(outcome.out == "");
  for (const std::string& part : parts)
    BOOST_TEST(contains(outcome.err, part), "'" << outcome.err << "' lacks '" << part << "'");
}

} // namespace tessera::test
