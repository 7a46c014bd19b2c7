#pragma once

/// Weighted sums of groups of columns: the inner loop of a verified product. The columns are cut into segments. In a
/// segment, group g has the columns whose number leaves g when it is divided by `lanes`, so that a vector of sums needs
/// no additions across its lanes.

#include <tessera/types.hpp>

namespace tessera::verify {

/// Groups in a segment.
inline constexpr Index lanes = 16;

/// The most columns that add_groups() takes.
inline constexpr Index group_piece = 1024;

/// Chains that a sum has within a piece.
inline constexpr Index chains = 4;

/// Roundings that an element passes on its way into the sum of a group of `width` columns, at most: the product with
/// its weight, and then either its chain, the sums of the chains and the sums of the pieces; or the sum of four
/// columns, and a chain of such sums and of the last few columns (add_stored_columns()).
constexpr Index roundings_of_group(Index width) {
  const Index by_rows = group_piece / lanes / chains + (width * lanes + group_piece - 1) / group_piece;
  const Index by_columns = width / chains + chains;
  return 3 + (by_rows > by_columns ? by_rows : by_columns);
}

/// Adds Σ x[j]·weights[j] to sums[g], and Σ |x[j]·weights[j]| to sizes[g], for the columns j of each group g.
void add_groups(const float* x, const float* weights, Index cols, float* sums, float* sizes);
void add_groups(const double* x, const double* weights, Index cols, double* sums, double* sizes);

/// Does what add_groups() does for `rows` rows at a time of a matrix whose columns are stored one after another, `ld`
/// elements apart: adds to sums[g·rows + r] and sizes[g·rows + r].
void add_stored_columns(const float* x, Index ld, const float* weights, Index cols, Index rows, float* sums,
                        float* sizes);
void add_stored_columns(const double* x, Index ld, const double* weights, Index cols, Index rows, double* sums,
                        double* sizes);

} // namespace tessera::verify
