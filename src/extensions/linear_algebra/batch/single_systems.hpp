#pragma once

/// Systems of a batch that are too large for lanes, one after another.

#include <vector>

#include "call.hpp"
#include "extensions/linear_algebra/host_numbers.hpp"

namespace tessera::linear_algebra {

/// The memory of one system, which a thread uses for one system after another.
template <class T>
class SingleSystem {
 public:
  SingleSystem(const Systems<T>& systems, const SolveOptions& options);

  /// Computes system i.
  void compute(Index i);

 private:
  void copy_matrix(Index i);
  void write_identity(Index i) const;
  Index factor_lu(T* a, Index lda, Index* pivots) const;
  Index factor_positive(Triangle triangle, T* a, Index lda) const;
  void solve_lu(const T* lu, Index ld, const Index* pivots, Index i) const;
  void solve_positive(Triangle triangle, const T* factor, Index ld, Index i) const;
  void solve_triangle(Triangle triangle, Op op, Diagonal diagonal, const T* t, Index ldt, Index i) const;
  void exchange_rows(Index i, Index row, Index other) const;
  void factor_in_place(Index i);
  void report(Index i, Index info) const;

  const Systems<T>& systems_;
  SolveOptions options_;
  HostNumbers<T> copy_;
  std::vector<Index> pivots_;
};

} // namespace tessera::linear_algebra
