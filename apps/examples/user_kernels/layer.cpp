/// A layer of a network: a product, and then bias and tanh in one pass. layer [SIZE] [BACKEND]...

#include "layer.hpp"

#include "backends.hpp"

using namespace tessera;

int main(int argc, char** argv) try {
  const examples::Arguments arguments = examples::parse(argc, argv, 1000);
  const Index n = arguments.size;
  const auto x = Matrix<float>::random(n, n, Seed{1}), weights = Matrix<float>::random(n, n, Seed{2}, -0.1f, 0.1f);
  const auto bias = Matrix<float>::random(1, n, Seed{3});
  return examples::run_on_each(arguments, [&](Executor& e) {
    Matrix y = gemm(x, weights, e.capabilities().backend); // stays in the executor's memory
    for_each(e, n, n, BiasAndTanh{read(bias, e), update(y, e)});
    return sum(e, n, n, Element{read(y, e)});
  });
} catch (const Error& error) {
  std::cerr << "layer: " << error.what() << '\n';
  return 2;
}
