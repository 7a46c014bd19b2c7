#include <iostream>

#include <tessera/tessera.hpp>

using namespace tessera;

int main() {
  const Matrix a = Matrix<float>::random(1000, 500, Seed{1});
  const Matrix b = Matrix<float>::random(800, 500, Seed{2});
  const Matrix expected = gemm(a, b.transposed(), Backend::Reference);
  bool same = true;
  for (const Backend backend : {Backend::OpenMP, Backend::Tbb, Backend::Cuda, Backend::OpenCl}) try {
      const Matrix c = gemm(a, b.transposed(), backend);
      same = same && c == expected; // the same bits, whatever computed them
      std::cout << to_string(backend) << ": ‖c‖ = " << c.norm_frobenius() << ", c(3, 4) = " << c(3, 4) << '\n';
    } catch (const BackendUnavailable& absent) {
      std::cout << absent.what() << '\n';
    }
  return same ? 0 : 1;
}
