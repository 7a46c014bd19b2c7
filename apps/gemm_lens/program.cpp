#include "program.hpp"

#include <sys/wait.h>
#include <unistd.h>
#include <cmath>
#include <fstream>
#include <sstream>
#include <vector>

#include <fmt/format.h>

#include <tessera/backend/environment.hpp>
#include <tessera/status.hpp>

#include "gemm_judge/compilers.hpp"
#include "gemm_judge/processes/child_process.hpp"
#include "rewrite.hpp"

namespace tessera::lens {
namespace {

namespace fs = std::filesystem;
using judge::ChildProcess;
using judge::Clock;
using judge::contents;
using judge::find_program;

constexpr std::chrono::minutes compile_time_limit{2};

void write(const fs::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) throw IoError("--lens: cannot write " + path.string() + "; is the disk full?");
}

fs::path find_gcc() {
  const char* const chosen = trusted_variable("CXX");
  if (chosen != nullptr && std::string(chosen).find("clang") == std::string::npos)
    if (const fs::path found = find_program(chosen); !found.empty()) return found;
  for (const char* name : {"g++", "g++-15", "g++-14", "g++-13", "g++-12", "c++"})
    if (const fs::path found = find_program(name); !found.empty()) return found;
  throw IoError("--lens: no compiler: looked for $CXX, g++ and c++; install GCC (Debian: apt install g++)");
}

/// The lens finds the lines of instructions by this program, and says so before the kernel has run.
void check_addr2line() {
  if (find_program("addr2line").empty())
    throw IoError(
        "--lens: no addr2line on PATH, which finds the lines of instructions; install it (Debian: apt install "
        "binutils)");
}

/// Runs a tool of the compiler. Returns what it printed; `good`: it ended well.
std::string run_tool(std::vector<std::string> command, const fs::path& temporary, bool& good) {
  command.insert(command.begin(), {"/usr/bin/env", "LC_ALL=C", "TMPDIR=" + temporary.string()});
  ChildProcess child(command, {});
  const ChildProcess::Event event = child.wait(-1, Clock::now() + compile_time_limit);
  const int status = child.end(std::chrono::milliseconds(0));
  good = event == ChildProcess::Event::Ended && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (event == ChildProcess::Event::TimeLimit) return child.output() + "the compiler did not finish within 2 minutes\n";
  // The passes that the lens turns off, which GCC mentions.
  std::string said;
  std::istringstream lines(child.output());
  for (std::string line; std::getline(lines, line);)
    if (line.find("note: disable pass rtl-") == std::string::npos) said += line + "\n";
  return said;
}

/// What makes the compiler access memory as nvcc's code does: loops of a constant length are unrolled, so that a value
/// which several of their passes read is read once; vectors stay whole; nothing is read before the source reads it;
/// code stays in the source's order, which says where the threads of a warp come together again (event.hpp); and
/// no code is copied or merged, so that a place in the program is one in the source. What only makes the program faster
/// and takes the compiler long is left out.
const std::vector<std::string> as_nvcc{"-O3",
                                       "--param=max-completely-peeled-insns=1000",
                                       "--param=max-completely-peel-times=128",
                                       "--param=max-jump-thread-duplication-stmts=0",
                                       "-fdisable-rtl-loop2_unroll",
                                       "-fdisable-rtl-combine",
                                       "-fdisable-rtl-postreload",
                                       "-fno-code-hoisting",
                                       "-fno-crossjumping",
                                       "-fno-dse",
                                       "-fno-gcse",
                                       "-fno-gcse-after-reload",
                                       "-fno-ipa-cp-clone",
                                       "-fno-ipa-icf",
                                       "-fno-ipa-sra",
                                       "-fno-ivopts",
                                       "-fno-partial-inlining",
                                       "-fno-reorder-blocks",
                                       "-fno-reorder-blocks-and-partition",
                                       "-fno-schedule-insns2",
                                       "-fno-split-loops",
                                       "-fno-split-paths",
                                       "-fno-strict-aliasing",
                                       "-fno-thread-jumps",
                                       "-fno-tree-dominator-opts",
                                       "-fno-tree-dse",
                                       "-fno-tree-loop-distribute-patterns",
                                       "-fno-tree-loop-distribution",
                                       "-fno-tree-pre",
                                       "-fno-tree-slp-vectorize",
                                       "-fno-tree-sra",
                                       "-fno-tree-tail-merge",
                                       "-fno-tree-vrp",
                                       "-fno-tree-vectorize",
                                       "-fno-unswitch-loops"};
/// What makes it report accesses and branches.
const std::vector<std::string> reporting{"-g1", "-fsanitize=thread", "-fsanitize-coverage=trace-pc,trace-cmp",
                                         "--param", "tsan-instrument-func-entry-exit=0"};

} // namespace

Program::Program(const Source& source, const Folders& folders)
    : folders_(folders), compiler_(find_gcc()), is_rung_(!source.rung.empty()) {
  check_addr2line();
  std::string tail;
  if (is_rung_)
    tail = fmt::format(
        "\nnamespace tessera::lens {{ const char* run_rung(const GemmKernel&, const void*); }}\n"
        "extern \"C\" const char* tessera_lens_rung(const void* call) {{ return "
        "tessera::lens::run_rung(tessera::cuda::{}, call); }}\n",
        source.symbol);
  std::vector<std::string> link{compiler_.string(), compile(source.file, tail, "kernel", source.symbol).string()};
  const fs::path repack = folders.backends / "cuda/gemm/common/copies/repack.cu";
  if (contents(folder_.path() / "kernel.ii").find("copies/repack.cuh\"") != std::string::npos && fs::exists(repack))
    link.push_back(compile(repack, "", "repack", "").string()); // the rungs that copy an operand first
  program_ = folder_.path() / "kernel";
  link.insert(link.end(), {folders.runtime.string(), "-o", program_.string()});
  bool good = false;
  const std::string said = run_tool(link, folder_.path(), good);
  if (!good) throw CompileError(said);
}

fs::path Program::compile(const fs::path& file, const std::string& tail, const char* name, const std::string& rung) {
  const fs::path read = folder_.path() / (std::string(name) + ".raw.ii");
  const fs::path rewritten = folder_.path() / (std::string(name) + ".ii");
  const fs::path object = folder_.path() / (std::string(name) + ".o");
  std::vector<std::string> command{compiler_.string(),
                                   "-x",
                                   "c++",
                                   "-std=gnu++20",
                                   "-march=native",
                                   "-E",
                                   "-w",
                                   "-Dmain=tessera_lens_main_of_file",
                                   "-DTESSERA_LENS=1",
                                   "-I" + folders_.headers.string(),
                                   "-I" + folders_.backends.string(),
                                   "-I" + folders_.include.string(),
                                   "-include",
                                   "cuda_runtime.h",
                                   file.string(),
                                   "-o",
                                   read.string()};
  bool good = false;
  std::string said = run_tool(command, folder_.path(), good);
  if (!good) throw CompileError(said);
  write(rewritten, rewrite(contents(read), rung) + tail);
  command = {compiler_.string(), "-x", "c++-cpp-output",           "-std=gnu++20",
             "-march=native",    "-w", "-fdiagnostics-color=never"};
  command.insert(command.end(), as_nvcc.begin(), as_nvcc.end());
  command.insert(command.end(), reporting.begin(), reporting.end());
  command.insert(command.end(), {"-c", rewritten.string(), "-o", object.string()});
  said = run_tool(command, folder_.path(), good);
  if (!good) throw CompileError(said);
  return object;
}

Run Program::run(const Question& question) const {
  const fs::path report = folder_.path() / "report.json";
  const auto seconds = static_cast<long>(std::ceil(question.seconds));
  ChildProcess child(
      {program_.string(), report.string(), std::string(to_string(question.type)), std::to_string(question.shape.m),
       std::to_string(question.shape.n), std::to_string(question.shape.k), question.op_a == Op::Transpose ? "1" : "0",
       question.op_b == Op::Transpose ? "1" : "0", fmt::format("{}", question.alpha), fmt::format("{}", question.beta),
       std::to_string(question.ld_pad.value_or(is_rung_ ? -1 : 0)), std::to_string(seconds)},
      {});
  // The program ends itself in time; the rest is for what it cannot see.
  const ChildProcess::Event event = child.wait(-1, Clock::now() + std::chrono::seconds(seconds + 10));
  const int status = child.end(std::chrono::milliseconds(0));
  Run run;
  run.output = child.output();
  if (event == ChildProcess::Event::Ended) run.report = contents(report);
  if (event == ChildProcess::Event::TimeLimit)
    run.ended = fmt::format("it did not end within {} s", seconds);
  else if (event == ChildProcess::Event::Flood)
    run.ended = "it printed more than 16 MiB";
  else if (WIFSIGNALED(status))
    run.ended = "it was ended by " + judge::signal_name(WTERMSIG(status));
  else if (WIFEXITED(status))
    run.ended = fmt::format("it ended with status {} before its results were written", WEXITSTATUS(status));
  return run;
}

} // namespace tessera::lens
