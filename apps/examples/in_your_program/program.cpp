#include <iostream>

#include <tessera/tessera.hpp>

int main() {
  const auto a = tessera::Matrix<float>::random(300, 200, tessera::Seed{1});
  std::cout << "‖a·aᵀ‖ = " << tessera::gemm(a, a.transposed()).norm_frobenius() << '\n';
}
