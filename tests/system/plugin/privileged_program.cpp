/// Prints what libtessera takes from the environment. privileged.cpp runs it as its caller, and with a group's rights
/// that its caller does not have.

#include <sys/auxv.h>
#include <iostream>
#include <string_view>

#include <tessera/files.hpp>
#include <tessera/tessera.hpp>

using namespace tessera;

int main() {
  std::cout << "privileged " << getauxval(AT_SECURE) << '\n';
  std::cout << "cache '" << user_cache_folder().string() << "'\n";
  for (const BackendInfo& info : available_backends())
    if (info.backend == Backend::Tbb) std::cout << "tbb '" << info.path << "'\n";
  int libraries = 0;
  for (const GemmKernel& row : gemm_kernels(Backend::OpenMP))
    libraries += std::string_view(row.name) == "cblas:planted";
  std::cout << "rows of TESSERA_CBLAS: " << libraries << '\n';
  try {
    static_cast<void>(gemm(Matrix{{1.0}}, Matrix{{1.0}}, Backend::OpenMP));
    std::cout << "TESSERA_TUNING was not read\n";
  } catch (const Error& error) {
    std::cout << error.what() << '\n';
  }
}
