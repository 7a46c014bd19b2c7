#pragma once

/// Sums of some rows of a product, which another pass over B makes on its way, so that B is read once.

#include <memory>
#include <span>
#include <vector>

#include "accumulate.hpp"
#include "element_source.hpp"

namespace tessera::compare {

/// An element of A. Both numbers are read from memory, since that is how a processor copies a number to all of a vector
/// at no cost.
struct Factor {
  double value, size;
};

/// Sums of a strip of columns of one row.
template <class T>
struct RowStrip;
template <>
struct RowStrip<float> {
  double high[strip<float>];
  double magnitude[strip<float>]; ///< Σ|a||b|
};
template <>
struct RowStrip<double> {
  double high[strip<double>];
  double low[strip<double>];
  double magnitude[strip<double>];
};

/// Sums of some rows of A·B, in double (f32) or in pairs of doubles (f64). Rows of B come in groups, whose sums are
/// kept apart and added in ascending order at the end: groups may be added in any order by several threads.
template <class T>
class SampledRows {
 public:
  /// The rows of B in a group. The sums of a group take a 64th of the memory of its rows of B in f32, for each row.
  static constexpr Index group = 256;
  /// Returns whether the sums of all groups are small beside B and beside the machine.
  static bool fits(std::size_t rows, Index depth, Index columns) {
    constexpr std::size_t most_rows = 32, most_bytes = std::size_t{256} << 20;
    const Index strips = (columns + strip<T> - 1) / strip<T> * ((depth + group - 1) / group);
    return rows <= most_rows && rows * static_cast<std::size_t>(strips) * sizeof(RowStrip<T>) <= most_bytes;
  }

  /// Describes rows `rows` of A times a B of `columns` columns. The rows of A are copied.
  SampledRows(const ElementSource& a, std::span<const Index> rows, Index columns);

  /// Adds the terms of rows p … p + depth − 1 of B and columns j … j + columns − 1. `b` points to element (p, j). One
  /// thread adds the rows of a group, in ascending order, beginning with its first row. j is a multiple of the strip.
  void add(Index p, Index depth, Index j, Index columns, Block<T> b);

  /// Writes the sums of row number r, one for each column. `low` is written for f64 alone.
  void write(std::size_t r, double* high, double* low, double* magnitude) const;

 private:
  std::size_t at(Index of_group, std::size_t r, Index s) const {
    return (static_cast<std::size_t>(of_group) * rows_ + r) * static_cast<std::size_t>(strips_) +
           static_cast<std::size_t>(s);
  }

  std::size_t rows_;
  Index depth_, columns_, strips_, groups_;
  std::vector<Factor> a_; ///< rows × depth
  std::unique_ptr<RowStrip<T>[]> sums_;
};

extern template class SampledRows<float>;
extern template class SampledRows<double>;

} // namespace tessera::compare
