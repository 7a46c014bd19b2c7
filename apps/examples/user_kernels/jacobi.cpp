/// Laplace's equation on a square by Jacobi's method: jacobi [SIZE] [BACKEND]...

#include "jacobi.hpp"

#include "backends.hpp"

using namespace tessera;

int main(int argc, char** argv) try {
  const examples::Arguments arguments = examples::parse(argc, argv, 1000);
  const Index n = arguments.size;
  return examples::run_on_each(arguments, [&](Executor& e) {
    Matrix<double> x(n + 2, n + 2), y(n + 2, n + 2);
    for (Index j = 0; j < n + 2; ++j) x(0, j) = y(0, j) = 1; // one edge is warm
    for (int step = 0; step < 50; ++step) {
      for_each(e, n, n, Step{read(x, e), write(y.block(1, 1, n, n), e)});
      std::swap(x, y);
    }
    const Extremum<double> change = max(e, n + 2, n + 2, Change{read(x, e), read(y, e)});
    return sum(e, n + 2, n + 2, Point{read(x, e)}) + change.value;
  });
} catch (const Error& error) {
  std::cerr << "jacobi: " << error.what() << '\n';
  return 2;
}
