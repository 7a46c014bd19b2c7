#pragma once

/// Which of its three algorithms ScaLAPACK chooses for a product. Only the first one multiplies C's elements by local
/// products as they stand; the others may compute a transpose, and a transposed complex product adds the two terms of
/// an imaginary part in another order.
///
/// Source: the estimates of communication in the routines p?gemm of Reference ScaLAPACK 2.2 (Petitet 1998).

#include <algorithm>

#include <tessera/backend/gemm_shape.hpp>
#include <tessera/types.hpp>

namespace tessera::distributed {

/// The blocks of a matrix of ScaLAPACK.
struct ScalapackBlocks {
  Index rows, cols;
};

/// A product op(A)·op(B) on rows×cols processes.
struct ScalapackEstimate {
  bool transposed_a, transposed_b;
  GemmShape shape;
  int rows, cols;
  ScalapackBlocks a, b, c;

  /// Does ScaLAPACK add outer products, of panels of A and B, to a C that stays?
  bool keeps_c() const noexcept {
    const double ab = cost_of_outer_products();
    return ab <= slack * cost_of_moving_a_and_c() && ab <= slack * cost_of_moving_b_and_c();
  }

 private:
  static constexpr double slack = 1.3, sum_over_copy = 1.3; ///< a sum over ranks takes so much longer than a copy

  /// Returns the most indices of a dimension that a rank holds, in whole blocks.
  static double most(Index size, Index block, int count) noexcept {
    const Index blocks = (size + block - 1) / block, of_a_rank = (blocks + count - 1) / count;
    return static_cast<double>(of_a_rank * block);
  }
  double along_rows(double elements) const noexcept { return cols == 1 ? 0 : elements; }
  double along_cols(double elements) const noexcept { return rows == 1 ? 0 : elements; }

  double cost_of_outer_products() const noexcept {
    const double of_m = most(shape.m, c.rows, rows), of_n = most(shape.n, c.cols, cols);
    double cost = along_rows(of_m) + along_cols(of_n);
    if (transposed_a) cost += std::max(of_m, most(shape.m, a.cols, cols));
    if (transposed_b) cost += std::max(of_n, most(shape.n, b.rows, rows));
    return static_cast<double>(shape.k) * cost;
  }
  double cost_of_moving_a_and_c() const noexcept {
    double cost = 0;
    if (!transposed_b) {
      const double of_k = most(shape.k, b.rows, rows);
      cost = along_rows(of_k) + sum_over_copy * along_cols(most(shape.n, b.cols, cols));
      if (!transposed_a) cost += std::max(of_k, most(shape.k, a.cols, cols));
    } else {
      const double of_n = most(shape.n, b.rows, rows), of_k = most(shape.k, b.cols, cols);
      cost = sum_over_copy * along_rows(of_n) + std::max(of_n, most(shape.n, c.cols, cols)) + along_cols(of_k);
      if (transposed_a) cost += std::max(of_k, most(shape.k, a.rows, rows));
    }
    return static_cast<double>(shape.m) * cost;
  }
  double cost_of_moving_b_and_c() const noexcept {
    double cost = 0;
    if (!transposed_a) {
      const double of_k = most(shape.k, a.cols, cols);
      cost = sum_over_copy * along_rows(most(shape.m, a.rows, rows)) + along_cols(of_k);
      if (!transposed_b) cost += std::max(of_k, most(shape.k, b.rows, rows));
    } else {
      const double of_k = most(shape.k, a.rows, rows), of_m = most(shape.m, a.cols, cols);
      cost = along_rows(of_k) + sum_over_copy * along_cols(of_m) + std::max(of_m, most(shape.m, c.rows, rows));
      if (transposed_b) cost += std::max(of_k, most(shape.k, b.cols, cols));
    }
    return static_cast<double>(shape.n) * cost;
  }
};

} // namespace tessera::distributed
