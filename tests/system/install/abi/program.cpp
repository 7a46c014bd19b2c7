// Uses functions, classes, templates and exceptions of the library, with and without types of the standard library.
#include <cstdio>
#include <vector>

#include <tessera/gemm_batch.hpp>
#include <tessera/interop/io.hpp>
#include <tessera/tessera.hpp>

using namespace tessera;

int main(int count, char** arguments) try {
  for (const auto& backend : available_backends()) std::printf("%s ", backend.reason.c_str());
  const auto a = Matrix<float>::random(5, 5, Seed{1});
  const auto c = gemm(a, a, {.backend = Backend::Reference, .kernel = "canonical"});
  const std::vector<Matrix<float>> all{a, c};
  std::printf("sum %g\n", static_cast<double>(gemm_batch(all, all)[0](0, 0)));
  if (count > 1) std::printf("%g\n", static_cast<double>(load_csv<float>(arguments[1])(0, 0)));
} catch (const InvalidArgument& error) {
  std::printf("%s\n", error.what());
}
