#include "cblas_choice.hpp"

#include <cstdlib>
#include <vector>

#include <fmt/format.h>

#include <tessera/backend/environment.hpp>
#include <tessera/status.hpp>

#include "common/words.hpp"
#include "cpu/gemm/cblas/cblas_library.hpp"

namespace tessera::compare_app {
namespace {

constexpr const char* variable = "TESSERA_CBLAS";

/// Returns why the backends could not use the library; empty if they can.
std::string problem_of(const std::string& file) {
  cpu::CblasLibrary library(file);
  const char* problem = library.problem();
  return problem != nullptr ? problem : "";
}

} // namespace

void choose_cblas(const std::string& choice) {
  if (choice == "none") {
    unsetenv(variable);
    return;
  }
  std::vector<std::string> files;
  if (choice == "auto") {
    if (const char* present = trusted_variable(variable); present != nullptr && *present != '\0') return;
    for (const char* file : {"libopenblas.so.0", "libmkl_rt.so.2", "libblis.so.4"})
      if (problem_of(file).empty()) files.emplace_back(file);
  } else {
    files = apps::split_list("--cblas", choice);
    for (const std::string& file : files)
      if (const std::string problem = problem_of(file); !problem.empty())
        throw InvalidArgument(fmt::format("--cblas: {}; give the file of a CBLAS library, auto or none", problem));
  }
  if (files.empty()) return;
  setenv(variable, apps::joined(files, ":").c_str(), 1);
}

} // namespace tessera::compare_app
