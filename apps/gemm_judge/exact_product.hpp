#pragma once

/// A product of small whole numbers, of which doubles hold every sum exactly, beside the result that a kernel gave.

#include <algorithm>
#include <vector>

#include <tessera/backend/kernel.hpp>

namespace tessera::judge {

/// The wrong elements of C that were found.
struct Mistakes {
  Index count = 0; ///< number of wrong elements in the examined rows, at most 64 of the wrong ones
  Index row = -1;  ///< place of the first wrong element
  Index col = -1;
  double expected = 0, found = 0;
  bool only_at_edges = false; ///< all wrong elements are in the last rows or columns
  Index k_of_answer = 0;      ///< if not 0: the wrong elements are right for a product with this k
};

/// T: the operands' C++ type; R: the type of C.
template <class T, class R>
class ExactProduct {
 public:
  /// `call`: the operands, with C as it was before the product. `found`: the kernel's C, m×n with leading dimension
  /// ldc.
  ExactProduct(const GemmCall& call, const R* found) : x_(call), found_(found) {}

  /// Returns the rows in which found·v differs from alpha·A·(B·v) + beta·C·v; v has n entries (Freivalds 1977).
  std::vector<Index> wrong_rows(const std::vector<double>& v) const {
    const std::vector<double> expected = alpha_ab_times(v);
    std::vector<Index> wrong;
    for (Index i = 0; i < x_.m; ++i) {
      double found = 0;
      double before = 0;
      for (Index j = 0; j < x_.n; ++j) {
        found += found_at(i, j) * entry(v, j);
        if (x_.beta != 0) before += before_at(i, j) * entry(v, j);
      }
      if (!(found == entry(expected, i) + x_.beta * before)) wrong.push_back(i);
    }
    return wrong;
  }

  /// Compares the given rows element by element.
  Mistakes mistakes_in(const std::vector<Index>& rows) const {
    const Index edge_m = std::min<Index>(128, x_.m / 2);
    const Index edge_n = std::min<Index>(128, x_.n / 2);
    Mistakes mistakes;
    mistakes.only_at_edges = true;
    std::vector<Index> prefixes; // every k < x_.k that explains the first wrong elements, at most 64 of them
    for (const Index i : rows) {
      const std::vector<double> expected = expected_row(i);
      for (Index j = 0; j < x_.n; ++j) {
        const double found = found_at(i, j);
        if (found == entry(expected, j)) continue;
        if (i < x_.m - edge_m && j < x_.n - edge_n) mistakes.only_at_edges = false;
        const auto explains = [&](Index k) { return expected_with(i, j, k) == found; };
        if (mistakes.count == 0) {
          mistakes.row = i;
          mistakes.col = j;
          mistakes.expected = entry(expected, j);
          mistakes.found = found;
          for (Index k = std::max<Index>(1, x_.k - 256); k < x_.k; ++k)
            if (explains(k)) prefixes.push_back(k);
        } else if (mistakes.count < 64) {
          std::erase_if(prefixes, [&](Index k) { return !explains(k); });
        }
        ++mistakes.count;
      }
    }
    if (!prefixes.empty() && mistakes.count >= 4) mistakes.k_of_answer = prefixes.back();
    return mistakes;
  }

 private:
  /// The operands of a call, whose types GemmOperands does not all know.
  struct Operands {
    explicit Operands(const GemmCall& call)
        : m(call.m),
          n(call.n),
          k(call.k),
          lda(call.lda),
          ldb(call.ldb),
          ldc(call.ldc),
          a_transposed(call.op_a == Op::Transpose),
          b_transposed(call.op_b == Op::Transpose),
          a(static_cast<const T*>(call.a)),
          b(static_cast<const T*>(call.b)),
          c(static_cast<const R*>(call.c)),
          alpha(call.alpha),
          beta(call.beta) {}
    double at_a(Index i, Index p) const { return static_cast<double>(a_transposed ? a[p * lda + i] : a[i * lda + p]); }
    double at_b(Index p, Index j) const { return static_cast<double>(b_transposed ? b[j * ldb + p] : b[p * ldb + j]); }

    Index m, n, k, lda, ldb, ldc;
    bool a_transposed, b_transposed;
    const T *a, *b;
    const R* c;
    double alpha, beta;
  };

  static double entry(const std::vector<double>& v, Index i) { return v[static_cast<std::size_t>(i)]; }
  double found_at(Index i, Index j) const { return static_cast<double>(found_[i * x_.ldc + j]); }
  double before_at(Index i, Index j) const { return static_cast<double>(x_.c[i * x_.ldc + j]); }
  double beta_c(Index i, Index j) const { return x_.beta != 0 ? x_.beta * before_at(i, j) : 0.0; }

  /// Calls f(outer, inner) for all elements of an operand in the order in which they are stored.
  template <class F>
  static void in_order(bool transposed, Index rows, Index cols, F&& f) {
    if (transposed) {
      for (Index col = 0; col < cols; ++col)
        for (Index row = 0; row < rows; ++row) f(row, col);
    } else {
      for (Index row = 0; row < rows; ++row)
        for (Index col = 0; col < cols; ++col) f(row, col);
    }
  }

  /// Returns alpha·op(A)·(op(B)·v), m entries, in O(m·k + k·n).
  std::vector<double> alpha_ab_times(const std::vector<double>& v) const {
    std::vector<double> bv(static_cast<std::size_t>(x_.k));
    in_order(x_.b_transposed, x_.k, x_.n,
             [&](Index p, Index j) { bv[static_cast<std::size_t>(p)] += x_.at_b(p, j) * entry(v, j); });
    std::vector<double> sums(static_cast<std::size_t>(x_.m));
    in_order(x_.a_transposed, x_.m, x_.k,
             [&](Index i, Index p) { sums[static_cast<std::size_t>(i)] += x_.alpha * x_.at_a(i, p) * entry(bv, p); });
    return sums;
  }

  /// Returns row i of the right result, n entries.
  std::vector<double> expected_row(Index i) const {
    std::vector<double> row(static_cast<std::size_t>(x_.n));
    for (Index p = 0; p < x_.k; ++p)
      for (Index j = 0; j < x_.n; ++j) row[static_cast<std::size_t>(j)] += x_.at_a(i, p) * x_.at_b(p, j);
    for (Index j = 0; j < x_.n; ++j) {
      double& element = row[static_cast<std::size_t>(j)];
      element = x_.alpha * element + beta_c(i, j);
    }
    return row;
  }

  /// Returns what C(i, j) would be if the product ended after the first k terms.
  double expected_with(Index i, Index j, Index k) const {
    double sum = 0;
    for (Index p = 0; p < k; ++p) sum += x_.at_a(i, p) * x_.at_b(p, j);
    return x_.alpha * sum + beta_c(i, j);
  }

  const Operands x_;
  const R* const found_;
};

} // namespace tessera::judge
