#pragma once

/// Runs a program and keeps its output.

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <boost/test/tree/test_unit.hpp>

#include "expect.hpp"
#include "files.hpp"

namespace tessera::test {

/// Sanitized programs are slow. They run to find wrong accesses; the other build's tests check their numbers.
#ifdef TESSERA_RUNS_SANITIZED_PROGRAMS
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

struct Outcome {
  int status = -1; ///< Exit status, or 128 + signal if a signal ended the program.
  std::string out;
  std::string err;
  long most_kib = 0; ///< The most memory that was resident.
};

using Variables = std::vector<std::pair<std::string, std::string>>;

/// A terminal in place of one of a program's outputs.
struct Terminal {
  unsigned short columns = 80; ///< 0: the terminal does not know its width
  bool takes_errors = false;   ///< it shows stderr instead of stdout
};

/// Returns whether this machine gives tests a terminal; says so where it does not.
boost::test_tools::assertion_result there_are_terminals(boost::unit_test::test_unit_id);

/// A program that is running in a folder, with these variables added to the environment.
class Process {
 public:
  Process(const std::string& program, const std::vector<std::string>& arguments, const std::filesystem::path& folder,
          const Variables& variables = {}, const Terminal* terminal = nullptr);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  void send(int signal) const;
  int id() const noexcept { return pid_; }
  Outcome wait();

 private:
  int pid_ = -1;
  int terminal_ = -1;         ///< the end at which the test reads
  bool shows_errors_ = false; ///< the terminal has stderr
  Folder outputs_;
};

/// The fixture of the test cases: a folder in which the programs run.
struct Programs {
  Folder folder;

  Outcome compare(const std::vector<std::string>& arguments, const Variables& variables = {}) const;
  /// Runs gemm_compare in a terminal. Ends of lines are as the program wrote them.
  Outcome compare_in(const Terminal& terminal, const std::vector<std::string>& arguments,
                     const Variables& variables = {}) const;
  Outcome bench(const std::vector<std::string>& arguments, const Variables& variables = {}) const;
  Outcome info(const std::vector<std::string>& arguments, const Variables& variables = {}) const;
  /// Runs tessera_info in a terminal.
  Outcome info_in(const Terminal& terminal, const std::vector<std::string>& arguments) const;
};

/// Checks that the exit status is 2, that every part is on stderr, and that nothing is on stdout.
void expect_usage_error(const Outcome& outcome, const std::vector<std::string>& parts);

} // namespace tessera::test
