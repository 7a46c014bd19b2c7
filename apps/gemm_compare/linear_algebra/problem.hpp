#pragma once

/// The data of an operation of linear algebra, and the place of its results.

#include <type_traits>
#include <vector>

#include "catalogue.hpp"

namespace tessera::compare_app {

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
