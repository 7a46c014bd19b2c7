#include "problem.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <random>

namespace tessera::lessons {
namespace {

class Square {
 public:
  explicit Square(Index n) : n_(n), elements_(static_cast<std::size_t>(n * n)) {}
  double& operator()(Index i, Index j) { return elements_[static_cast<std::size_t>(i * n_ + j)]; }
  std::vector<double>& elements() { return elements_; }

 private:
  Index n_;
  std::vector<double> elements_;
};

template <std::size_t count>
double one_of(const std::array<double, count>& numbers, std::mt19937& random) {
  return numbers[random() % count];
}

FactorProblem positive(Index n, Index width) {
  std::mt19937 random(static_cast<unsigned>(n));
  Square l(n), a(n), factored(n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < i; ++j) l(i, j) = one_of(std::array{-2.0, -1.0, 1.0, 2.0}, random);
    l(i, i) = one_of(std::array{2.0, 4.0}, random);
  }
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j <= i; ++j) {
      double sum = 0;
      for (Index k = 0; k <= j; ++k) sum += l(i, k) * l(j, k);
      a(i, j) = a(j, i) = sum;
    }
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) factored(i, j) = j <= i && j < width ? l(i, j) : a(i, j);
  return {n, width, a.elements(), factored.elements(), std::vector<double>(static_cast<std::size_t>(n), -1)};
}

FactorProblem general(Index n, Index width) {
  std::mt19937 random(static_cast<unsigned>(n));
  Square factors(n), product(n), a(n), factored(n);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j)
      factors(i, j) = i > j    ? one_of(std::array{-0.5, -0.25, 0.25, 0.5}, random)
                      : i == j ? one_of(std::array{-8.0, -4.0, 4.0, 8.0}, random)
                               : one_of(std::array{-3.0, -2.0, -1.0, 1.0, 2.0, 3.0}, random);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) {
      double sum = i <= j ? factors(i, j) : 0;
      for (Index k = 0; k < std::min(i, j + 1); ++k) sum += factors(i, k) * factors(k, j);
      product(i, j) = sum;
    }
  std::vector<Index> row(static_cast<std::size_t>(n)); // the factors' row of each row of A
  std::iota(row.begin(), row.end(), Index{0});
  std::shuffle(row.begin(), row.end(), random);
  const auto of = [&](Index i) -> Index& { return row[static_cast<std::size_t>(i)]; };
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) a(i, j) = product(of(i), j);
  std::vector<double> pivots(static_cast<std::size_t>(n), -1);
  for (Index j = 0; j < width; ++j) {
    const auto found = std::find(row.begin() + j, row.end(), j);
    pivots[static_cast<std::size_t>(j)] = static_cast<double>(found - row.begin());
    std::iter_swap(row.begin() + j, found);
  }
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) factored(i, j) = j < width ? factors(of(i), j) : product(of(i), j);
  return {n, width, a.elements(), factored.elements(), pivots};
}

} // namespace

FactorProblem make_problem(Work work, Index n, bool is_panel) {
  const Index width = is_panel ? n / 2 : n;
  return work == Work::Cholesky ? positive(n, width) : general(n, width);
}

} // namespace tessera::lessons
