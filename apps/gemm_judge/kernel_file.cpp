#include "kernel_file.hpp"

#include <sys/wait.h>
#include <array>
#include <sstream>
#include <vector>

#include <tessera/status.hpp>

#include "compilers.hpp"
#include "processes/child_process.hpp"

namespace tessera::judge {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::minutes compile_time_limit{5};

/// Says whether a library is for CUDA: nvcc puts device code into sections named .nv_fatbin, and the other marks are
/// names of libraries that CUDA code needs.
bool is_for_cuda(const fs::path& library) {
  const std::string bytes = contents(library);
  for (const char* mark : {".nv_fatbin", "libcudart.so", "libcuda.so.1", "libcublas.so"})
    if (bytes.find(mark) != std::string::npos) return true;
  return false;
}

/// Returns the Python that runs kernels: $PYTHON, else python3. Throws IoError if there is none.
std::string find_python(const std::string& kernel) {
  const fs::path found = find_compiler({"PYTHON"}, {"python3"});
  if (found.empty())
    throw IoError("--kernel: no Python for " + kernel +
                  ": looked for $PYTHON and python3; install one of them with NumPy");
  return fs::absolute(found);
}

/// Returns the folder that holds <tessera/backend/kernel_abi.h>: installed beside this program, or in the source tree
/// from which it was built.
fs::path include_folder() {
  std::error_code error;
  fs::path installed = fs::read_symlink("/proc/self/exe", error).parent_path().parent_path() / "include";
  if (fs::exists(installed / "tessera" / "backend" / "kernel_abi.h", error)) return installed;
  return TESSERA_SOURCE_INCLUDE_DIR;
}

std::vector<std::string> split(const std::string& words) {
  std::istringstream stream(words);
  return {std::istream_iterator<std::string>(stream), {}};
}

} // namespace

KernelFile::KernelFile(const std::string& path, std::optional<Device> device, const std::string& flags) {
  std::error_code error;
  const fs::path file = fs::canonical(path, error);
  if (error || !fs::is_regular_file(file)) throw InvalidArgument("--kernel: there is no file " + path);
  const std::string extension = file.extension();
  const bool is_library = extension == ".so" || file.filename().string().find(".so.") != std::string::npos;
  const bool is_cuda_source = extension == ".cu";
  const bool is_source =
      is_cuda_source || extension == ".cpp" || extension == ".cc" || extension == ".cxx" || extension == ".c";
  const bool is_python = extension == ".py";
  if (is_python) interpreter_ = find_python(path);
  if (!is_library && !is_source && !is_python)
    throw InvalidArgument("--kernel: " + path + " is neither a shared library (.so) nor a source (.cu, .cpp, .c, .py)");
  device_ = device.value_or(is_cuda_source || (is_library && is_for_cuda(file)) ? Device::Cuda : Device::Cpu);
  library_ = file;
  if (is_source) compile(file, flags);
}

void KernelFile::compile(const fs::path& source, const std::string& flags) {
  const std::string extension = source.extension();
  const bool cuda = extension == ".cu";
  const bool c = extension == ".c";
  const fs::path compiler = cuda ? find_compiler({"NVCC", "CUDACXX"}, {"nvcc", "/usr/local/cuda/bin/nvcc"})
                            : c  ? find_compiler({"CC"}, {"cc", "gcc", "clang"})
                                 : find_compiler({"CXX"}, {"c++", "g++", "clang++"});
  if (compiler.empty())
    throw IoError(std::string("--kernel: no compiler for ") + source.string() + ": looked for " +
                  (cuda ? "$NVCC, $CUDACXX, nvcc and /usr/local/cuda/bin/nvcc; install the CUDA toolkit"
                   : c  ? "$CC, cc, gcc and clang; install one of them"
                        : "$CXX, c++, g++ and clang++; install one of them") +
                  ", or give a compiled .so");
  folder_.emplace();
  library_ = folder_->path() / "kernel.so";

  // The compiler puts its temporary files there too, because it does not remove them when it is killed.
  std::vector<std::string> command{"/usr/bin/env", "TMPDIR=" + folder_->path().string(), compiler.string(), "-shared"};
  if (cuda)
    command.insert(command.end(), {"-std=c++17", "-arch=native", "-Xcompiler=-fPIC"});
  else
    command.insert(command.end(), {"-fPIC", c ? "-std=c11" : "-std=c++20"});
  const std::vector<std::string> optimise = split(!flags.empty() ? flags
                                                  : cuda         ? std::string("-O3")
                                                                 : std::string("-O3 -march=native"));
  command.insert(command.end(), optimise.begin(), optimise.end());
  // Without this flag the pragmas would silently do nothing.
  if (contents(source).find("#pragma omp") != std::string::npos)
    command.emplace_back(cuda ? "-Xcompiler=-fopenmp" : "-fopenmp");
  command.insert(command.end(), {"-I" + include_folder().string(), "-o", library_, source.string()});
  if (!cuda) command.emplace_back("-lm");

  ChildProcess run(command, {});
  const ChildProcess::Event event = run.wait(-1, Clock::now() + compile_time_limit);
  const int status = run.end(std::chrono::milliseconds(0));
  compiler_output_ = run.output();
  if (event == ChildProcess::Event::Ended && WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  offence_ = Offence::CompileError;
  if (event == ChildProcess::Event::TimeLimit) compiler_output_ += "the compiler did not finish within 5 minutes";
}

} // namespace tessera::judge
