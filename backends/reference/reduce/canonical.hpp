#pragma once

/// The reduction of the contract. It gives equal bits on every backend and with any number of threads.
///
/// The elements are numbered row by row and cut into chunks of 1024. In a chunk, lane l of 32 adds the elements l,
/// l+32, … in ascending order, in double. Then the lanes fold: lane l adds lane l+16, l+8, … l+1. The sums of the
/// chunks are elements of a next level and are reduced by these rules, until one sum is left. Squares are rounded to
/// double before they are added. This is a pairwise summation in all but the first 32 steps, and both a warp and a SIMD
/// unit can do it.

#include <algorithm>
#include <cmath>
#include <vector>

#include <tessera/backend/kernel.hpp>

namespace tessera::host {

inline constexpr Index reduce_chunk = 1024;
inline constexpr Index reduce_lanes = 32;

/// Returns the larger number; NaN if one of them is NaN.
inline double larger(double x, double y) { return x > y || std::isnan(x) ? x : y; }

/// Joins a sum (or a maximum) and a value.
inline double join(ReduceOp op, double sum, double value) {
  return op == ReduceOp::MaxAbs ? larger(sum, value) : sum + value;
}

/// Returns what an element x contributes.
inline double term(ReduceOp op, double x) { return op == ReduceOp::SumOfSquares ? x * x : std::abs(x); }

/// Reduces one chunk of at most 1024 terms.
inline double fold_chunk(ReduceOp op, const double* values, Index count) {
  double lane[reduce_lanes] = {};
  for (Index e = 0; e < count; ++e) lane[e % reduce_lanes] = join(op, lane[e % reduce_lanes], values[e]);
  for (Index width = reduce_lanes / 2; width > 0; width /= 2)
    for (Index l = 0; l < width; ++l) lane[l] = join(op, lane[l], lane[l + width]);
  return lane[0];
}

/// Reduces chunk number `chunk` of a matrix.
template <class T>
double reduce_matrix_chunk(const ReduceCall& call, Index chunk) {
  const Index first = chunk * reduce_chunk;
  const Index count = std::min(reduce_chunk, call.rows * call.cols - first);
  double terms[reduce_chunk];
  Index row = first / call.cols;
  Index col = first % call.cols;
  const auto* x = static_cast<const T*>(call.x);
  for (Index e = 0; e < count; ++e) {
    terms[e] = term(call.op, static_cast<double>(x[row * call.ldx + col]));
    if (++col == call.cols) {
      col = 0;
      ++row;
    }
  }
  return fold_chunk(call.op, terms, count);
}

inline Index chunk_count(Index elements) { return (elements + reduce_chunk - 1) / reduce_chunk; }

/// Reduces the sums of all chunks, in place, and returns the result.
inline double fold_levels(ReduceOp op, std::vector<double>& sums) {
  while (sums.size() > 1) {
    const Index count = static_cast<Index>(sums.size());
    for (Index chunk = 0; chunk < chunk_count(count); ++chunk)
      sums[static_cast<std::size_t>(chunk)] =
          fold_chunk(op, sums.data() + chunk * reduce_chunk, std::min(reduce_chunk, count - chunk * reduce_chunk));
    sums.resize(static_cast<std::size_t>(chunk_count(count)));
  }
  return sums.empty() ? 0.0 : sums[0];
}

} // namespace tessera::host
