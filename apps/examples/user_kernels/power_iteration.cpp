/// The largest eigenvalue of a symmetric matrix by power iteration: power_iteration [SIZE] [BACKEND]...

#include "power_iteration.hpp"

#include "backends.hpp"

using namespace tessera;

int main(int argc, char** argv) try {
  const examples::Arguments arguments = examples::parse(argc, argv, 1000);
  const Index n = arguments.size;
  const auto half = Matrix<double>::random(n, n, Seed{1}, 0, 1);
  const Matrix a = half + transpose(half);
  return examples::run_on_each(arguments, [&](Executor& e) {
    Matrix<double> x(1, n, 1.0), y(1, n);
    double eigenvalue = 0;
    for (int step = 0; step < 20; ++step) {
      gemm(1.0, x, a, 0.0, y, {.backend = e.capabilities().backend});
      eigenvalue = sum(e, n, Product{read(x, e), read(y, e)});
      const double norm = tessera::sqrt(sum(e, n, Product{read(y, e), read(y, e)}));
      for_each(e, n, Divide{read(y, e), write(x, e), norm});
    }
    return eigenvalue;
  });
} catch (const Error& error) {
  std::cerr << "power_iteration: " << error.what() << '\n';
  return 2;
}
