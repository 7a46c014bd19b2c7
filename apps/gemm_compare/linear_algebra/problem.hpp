#pragma once

/// The data of an operation of linear algebra, and the place of its results.

#include <complex>
#include <type_traits>
#include <vector>

#include "catalogue.hpp"

namespace tessera::compare_app {

/// The type of a number, or of a complex one's parts.
template <class T>
struct PartOf {
  using Type = T;
};
template <class T>
struct PartOf<std::complex<T>> {
  using Type = T;
};
template <class T>
using Part = typename PartOf<T>::Type;
template <class T>
inline constexpr bool is_complex = !std::is_same_v<T, Part<T>>;

template <class T>
T conjugate(T x) {
  if constexpr (is_complex<T>)
    return std::conj(x);
  else
    return x;
}

/// Calls run(T()) for the C++ type T.
template <class Run>
void visit_numbers(detail::NumberType type, const Run& run) {
  const bool is_narrow = type.part == DType::F32;
  if (type.is_complex && is_narrow) return run(std::complex<float>());
  if (type.is_complex) return run(std::complex<double>());
  return is_narrow ? run(float()) : run(double());
}

/// A square matrix or some columns, by rows or by columns.
template <class T>
struct Strided {
  T* data = nullptr;
  Index row = 0, col = 0; ///< elements from one row, or column, to the next

  T& operator()(Index i, Index j) const { return data[i * row + j * col]; }
};

/// What an operation reads: A, or the triangle L in it, and B.
template <class T>
struct SystemData {
  SystemData(const SystemOperation& operation, Index n, std::uint64_t seed);

  Index n, count;
  std::vector<T> a, b; ///< n×n and n×count, by rows
};

/// A run's memory, which begins as a copy of the data: results lie where LAPACK has them. `pivots` are counted from 0.
template <class T>
struct SystemWork {
  std::vector<T> a, b;
  std::vector<Index> pivots;
  std::vector<T> tau;      ///< of geqrf: the factors of the reflections
  bool by_columns = false; ///< else by rows

  /// Copies the data in.
  void fill(const SystemData<T>& data, bool by_columns_now);
  Strided<T> matrix(Index n) { return by_columns ? Strided<T>{a.data(), 1, n} : Strided<T>{a.data(), n, 1}; }
  Strided<T> right(Index n, Index count) {
    return by_columns ? Strided<T>{b.data(), 1, n} : Strided<T>{b.data(), count, 1};
  }
};

} // namespace tessera::compare_app
