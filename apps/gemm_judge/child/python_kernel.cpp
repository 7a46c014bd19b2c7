#include "python_kernel.hpp"

#include <unistd.h>
#include <cstddef>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "gemm_judge/elements.hpp"
#include "limits.hpp"

namespace tessera::judge {

namespace assets {
std::string_view kernel_runner_py(); // embedded by cmake/TesseraEmbed.cmake
}

// kernel_runner.py packs and unpacks these by hand.
static_assert(sizeof(Command) == 48 && offsetof(Command, placement) == 16 && offsetof(Command, c) == 40);
static_assert(sizeof(Reply) == 536 && offsetof(Reply, layers) == 24 && offsetof(Reply, seconds) == 48);

void become_python(const std::string& interpreter, const std::string& file, Device device, const Problem& problem,
                   std::uint32_t layers) {
  // Most libraries for arrays read one of these.
  const std::string threads = std::to_string(problem.threads);
  for (const char* variable : {"OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"}) setenv(variable, threads.c_str(), 1);
  setenv("PYTHONDONTWRITEBYTECODE", "1", 1);
  std::vector<std::string> words{interpreter,
                                 "-c",
                                 std::string(assets::kernel_runner_py()),
                                 file,
                                 device == Device::Cuda ? "cuda" : "cpu",
                                 std::string(element_type(problem.type).array_name)};
  for (const std::int64_t number :
       {problem.shape.m, problem.shape.n, problem.shape.k, problem.lda, problem.ldb, problem.ldc,
        static_cast<std::int64_t>(problem.arena_bytes), std::int64_t{layers}, std::int64_t{magic}})
    words.push_back(std::to_string(number));
  for (const double seconds : {problem.settle_seconds, problem.watch_seconds}) words.push_back(std::to_string(seconds));
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  // The interpreter and its libraries take address space before the operands' memory and the kernel do.
  constexpr std::size_t interpreter_bytes = std::size_t{4} << 30;
  if (device == Device::Cpu && problem.memory_limit > 0)
    limit_memory(interpreter_bytes + problem.arena_bytes + problem.memory_limit);
  execv(interpreter.c_str(), arguments.data());
}

} // namespace tessera::judge
