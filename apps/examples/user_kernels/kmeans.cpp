/// The assignment of k-means: kmeans [POINTS] [BACKEND]... prints the sum of the squared distances.

#include "kmeans.hpp"

#include "backends.hpp"

using namespace tessera;

int main(int argc, char** argv) try {
  const examples::Arguments arguments = examples::parse(argc, argv, 100000);
  const Index points = arguments.size, centres = 20, dimensions = 16;
  const auto x = Matrix<float>::random(points, dimensions, Seed{1});
  const auto c = Matrix<float>::random(centres, dimensions, Seed{2});
  return examples::run_on_each(arguments, [&](Executor& e) {
    Matrix<float> nearest(1, points);
    Matrix<double> distance(1, points);
    // An index takes long, so a thread is worth starting for a hundred of them.
    for_each(e, points, Assign{read(x, e), read(c, e), write(nearest, e), write(distance, e)}, {.grain = 100});
    return sum(e, points, Distance{read(distance, e)});
  });
} catch (const Error& error) {
  std::cerr << "kmeans: " << error.what() << '\n';
  return 2;
}
