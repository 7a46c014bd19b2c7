/// Three products, an addition and a norm on the backend that the argument names, for tools that the environment names.
/// Prints an error's text and tries again.

#include <cstdio>
#include <string>

#include <tessera/tessera.hpp>

using namespace tessera;

int main(int argc, char** argv) {
  for (int attempt = 0; attempt < 2; ++attempt) try {
      const Backend backend = argc > 1 ? parse_backend(argv[1]) : Backend::Reference;
      Matrix<float> c;
      const auto a = Matrix<float>::random(60, 50, Seed{1}), b = Matrix<float>::random(50, 40, Seed{2});
      for (int i = 0; i < 3; ++i) c = gemm(a, b, backend);
      c = c + c;
      std::printf("norm %.3f\n", c.norm_frobenius());
      return 0;
    } catch (const Error& error) {
      std::printf("error %d: %s\n", static_cast<int>(error.code()), error.what());
    }
  return 2;
}
