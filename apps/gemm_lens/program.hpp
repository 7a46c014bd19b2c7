#pragma once

/// The program that the lens makes of a kernel's file, and its run.

#include <filesystem>
#include <string>

#include "gemm_judge/processes/left_behind.hpp"
#include "question.hpp"

namespace tessera::lens {

/// The kernel's file does not compile. what() is what the compiler says.
class CompileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What the program wrote and printed, and how it ended.
struct Run {
  std::string report; ///< its JSON; empty if it ended before it could write one
  std::string output; ///< the first 8192 bytes that it printed
  std::string ended;  ///< why there is no report, as part of a sentence
};

class Program {
 public:
  /// Compiles and links. Throws IoError if there is no GCC, and CompileError.
  Program(const Source& source, const Folders& folders);
  /// Runs it in a process of its own, with limits of time and memory.
  Run run(const Question& question) const;
  const std::filesystem::path& path() const { return program_; }
  const std::filesystem::path& folder() const { return folder_.path(); }

 private:
  std::filesystem::path compile(const std::filesystem::path& file, const std::string& tail, const char* name,
                                const std::string& rung);

  Folders folders_;
  judge::TemporaryFolder folder_;
  std::filesystem::path compiler_, program_;
  bool is_rung_;
};

} // namespace tessera::lens
