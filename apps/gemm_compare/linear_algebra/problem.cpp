#include "problem.hpp"

#include <tessera/linear_algebra/complex_matrix.hpp>
#include <tessera/matrix.hpp>
#include <tessera/random.hpp>

namespace tessera::compare_app {
namespace {

template <class T>
std::vector<T> random_rows(Index rows, Index cols, std::uint64_t seed) {
  const auto matrix = Matrix<T>::random(rows, cols, Seed{seed});
  std::vector<T> elements;
  elements.reserve(static_cast<std::size_t>(rows * cols));
  for (Index i = 0; i < rows; ++i) elements.insert(elements.end(), matrix.row(i).begin(), matrix.row(i).end());
  return elements;
}

template <class T>
void copy(const std::vector<T>& from, Index rows, Index cols, bool by_columns, std::vector<T>& to) {
  if (!by_columns) {
    to = from;
    return;
  }
  to.resize(from.size());
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j)
      to[static_cast<std::size_t>(j * rows + i)] = from[static_cast<std::size_t>(i * cols + j)];
}

} // namespace

template <class T>
SystemData<T>::SystemData(const SystemOperation& operation, Index size, std::uint64_t seed)
    : n(size), count(operation.kind == SystemKind::Trsm ? size : 1), a(random_rows<T>(size, size, seed)) {
  const Strided<T> at{a.data(), n, 1};
  const bool is_positive = operation.kind == SystemKind::Potrf || operation.kind == SystemKind::Posv;
  if (is_positive)
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < i; ++j) at(j, i) = conjugate(at(i, j));
  // The diagonal dominates, so that the matrix is positive definite, or the solutions are of moderate size.
  if (is_positive || operation.kind == SystemKind::Trsm)
    for (Index i = 0; i < n; ++i)
      at(i, i) = static_cast<Part<T>>(n) + (is_positive ? T(std::real(at(i, i))) : at(i, i));
  b = random_rows<T>(n, count, seed + 1);
}

template <class T>
void SystemWork<T>::fill(const SystemData<T>& data, bool by_columns_now) {
  by_columns = by_columns_now;
  copy(data.a, data.n, data.n, by_columns, a);
  copy(data.b, data.n, data.count, by_columns, b);
  pivots.assign(static_cast<std::size_t>(data.n), 0);
  tau.assign(static_cast<std::size_t>(data.n), 0);
}

template struct SystemData<float>;
template struct SystemData<double>;
template struct SystemData<std::complex<float>>;
template struct SystemData<std::complex<double>>;
template struct SystemWork<float>;
template struct SystemWork<double>;
template struct SystemWork<std::complex<float>>;
template struct SystemWork<std::complex<double>>;

} // namespace tessera::compare_app
