#include "build.hpp"

#include <sys/wait.h>
#include <algorithm>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <vector>

#include <fmt/format.h>

#include <tessera/backend/environment.hpp>
#include <tessera/status.hpp>

#include "gemm_judge/compilers.hpp"
#include "gemm_judge/processes/child_process.hpp"
#include "gpu_kernel.hpp"

namespace tessera::lessons {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds compile_seconds{120};

fs::path compiler() {
  if (const char* named = trusted_variable("CXX"); named != nullptr && *named != '\0') {
    if (fs::path found = judge::find_program(named); !found.empty()) return found;
    throw IoError(
        fmt::format("there is no compiler '{}', which CXX names; name one that is there, or unset CXX", named));
  }
  for (const char* name : {"c++", "g++", "clang++"})
    if (fs::path found = judge::find_program(name); !found.empty()) return found;
  throw IoError("there is no C++ compiler: looked for c++, g++ and clang++; install one (Debian: apt-get install g++)");
}

/// Returns the compiler of CUDA code; empty if there is none.
fs::path nvcc() { return judge::find_compiler({"NVCC", "CUDACXX"}, {"nvcc", "/usr/local/cuda/bin/nvcc"}); }

/// Runs a program, and returns whether it ended with 0.
bool run_program(const std::vector<std::string>& command, std::string& output) {
  judge::ChildProcess child(command, {});
  const auto event = child.wait(-1, judge::Clock::now() + compile_seconds);
  const int status = child.end(std::chrono::milliseconds(0));
  output = child.output();
  if (event == judge::ChildProcess::Event::TimeLimit)
    output += fmt::format("the compiler did not finish within {} seconds\n", compile_seconds.count());
  return event == judge::ChildProcess::Event::Ended && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

} // namespace

fs::path source_root() {
  const fs::path root = TESSERA_SOURCE_ROOT;
  if (!fs::exists(root / "apps" / "lessons" / "cpu" / "adapter.cpp"))
    throw IoError("the sources that this program was built from are gone from " + root.string() +
                  "; build it again where they are now");
  return root;
}

std::string why_not_timed() {
  const bool has_card = fs::exists("/dev/nvidia0") || fs::exists("/dev/nvidiactl") || fs::exists("/dev/dxg");
  if (!has_card) return "no NVIDIA GPU is here: the lens counts and marks, and nothing is timed";
  if (nvcc().empty())
    return "a GPU is here, but no nvcc: the lens counts and marks, and nothing is timed; CUDA 12.8 or later brings "
           "nvcc";
  return {};
}

Built::Built(const Lesson& lesson, const fs::path& file, Purpose purpose) {
  if (lesson.machine == Machine::Gpu)
    compile_for_gpu(lesson, file);
  else
    compile_for_processor(lesson, file, purpose);
}

void Built::compile_for_gpu(const Lesson& lesson, const fs::path& file) {
  const fs::path root = source_root(), adapter = folder_.path() / "lesson.cu";
  std::ofstream(adapter) << gpu_adapter(fs::absolute(file), {});
  good_ = run_program(
      {"/usr/bin/env", "TMPDIR=" + folder_.path().string(), nvcc().string(), "-shared", "-O3", "-std=c++20",
       "-arch=native", "-Xcompiler=-fPIC", "-I" + (root / "backends").string(), "-I" + (root / "include").string(),
       "-I" + (root / lesson.rung_file).parent_path().string(), "-o", library(), adapter.string()},
      output_);
}

void Built::compile_for_processor(const Lesson& lesson, const fs::path& file, Purpose purpose) {
  const fs::path root = source_root();
  const fs::path ours = root / "apps" / "lessons" / "cpu";
  // The compiler puts its temporary files there too, because it does not remove them when it is killed.
  std::vector<std::string> command{"/usr/bin/env",
                                   "TMPDIR=" + folder_.path().string(),
                                   compiler().string(),
                                   "-std=c++20",
                                   "-fPIC",
                                   "-fopenmp",
                                   "-march=native",
                                   "-fno-threadsafe-statics",
                                   "-fdiagnostics-color=never"};
  if (purpose == Purpose::Run)
    command.insert(command.end(), {"-O3", "-Wall", "-shared", "-o", library()});
  else // the calls that count are made, but the race detector is not linked
    command.insert(command.end(), {"-O2", "-g1", "-fsanitize=thread", "-DTESSERA_LESSON_COUNTS",
                                   fmt::format("-DTESSERA_LESSON_CACHE_BYTES={}", lesson.cache_kib * 1024), "-c", "-o",
                                   (folder_.path() / "kernel.o").string()});
  fs::path adapter = ours / "adapter.cpp";
  if (lesson.work != Work::Product) {
    adapter = root / "apps" / "lessons" / "factors" / "adapter.cpp";
    command.push_back("-I" + (root / "apps").string());
    command.push_back(fmt::format("-DTESSERA_LESSON_CALL={}", lesson.call));
    if (lesson.helper != nullptr)
      command.push_back(fmt::format("-DTESSERA_LESSON_HELPER=\"{}\"", (root / lesson.helper).string()));
  }
  command.insert(
      command.end(),
      {"-I" + (ours / "standin").string(), "-I" + (root / "backends").string(), "-I" + (root / "include").string(),
       "-I" + (root / lesson.rung_file).parent_path().string(), // a rung includes its neighbours
       fmt::format("-DTESSERA_LESSON_FILE=\"{}\"", fs::absolute(file).string()), adapter.string()});
  const std::vector<std::string> library_words{TESSERA_LIBRARY,
                                               "-Wl,-rpath," + fs::path(TESSERA_LIBRARY).parent_path().string()};
  if (purpose == Purpose::Run) command.insert(command.end(), library_words.begin(), library_words.end());
  good_ = run_program(command, output_);
  if (!good_ || purpose == Purpose::Run) return;
  std::vector<std::string> link{
      "/usr/bin/env", "TMPDIR=" + folder_.path().string(),   compiler().string(), "-shared", "-fopenmp", "-o",
      library(),      (folder_.path() / "kernel.o").string()};
  link.insert(link.end(), library_words.begin(), library_words.end());
  good_ = run_program(link, output_);
}

std::string line_of(const std::string& library, double place) {
  const fs::path tool = judge::find_program("addr2line");
  if (tool.empty() || place < 1) return {};
  std::string lines;
  // The place is where the call that counts returns to.
  if (!run_program({tool.string(), "-e", library, "-i", fmt::format("{:#x}", static_cast<std::uint64_t>(place) - 1)},
                   lines))
    return {};
  std::istringstream stream(lines);
  std::string first;
  for (std::string line; std::getline(stream, line);) {
    line = line.substr(0, line.find(" ("));
    if (line.find('?') != std::string::npos) continue;
    const bool of_project = line.find("/backends/") != std::string::npos ||
                            line.find("/apps/lessons/") != std::string::npos || line.find("/usr/") != std::string::npos;
    if (!of_project) return fs::path(line).filename().string();
    if (first.empty()) first = fs::path(line).filename().string();
  }
  return first;
}

} // namespace tessera::lessons
