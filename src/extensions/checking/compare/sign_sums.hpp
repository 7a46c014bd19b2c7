#pragma once

/// Multiplies matrices by bundles of vectors, for Freivalds' check.

#include <cmath>
#include <cstddef>
#include <vector>

#include <tessera/types.hpp>

#include "accumulate.hpp"
#include "core/base/thread_team.hpp"
#include "element_source.hpp"
#include "sampled_rows.hpp"

namespace tessera::compare {

/// How exactly sums are added. Precise: in double (f32) or pairs of doubles (f64) from the first term on. Short: chains
/// of `short_chain` terms in the matrix's own type, which are then added as under Precise. Short takes a quarter of the
/// time; its error is about the error of short_chain additions, whatever the length of the sum.
enum class Sums { Precise, Short };
inline constexpr Index short_chain = 32;

/// Number of vectors in a bundle. They are multiplied together, and their sums stay in registers.
inline constexpr Index lanes = 16;

/// Sums of a matrix times bundles of vectors: `bundles` × `length` × lanes numbers, high + low where there are pairs.
struct Bundles {
  Index bundles = 0;
  Index length = 0;
  std::vector<double> high, low;

  Bundles() = default;
  Bundles(Index count, Index size, bool pairs) : bundles(count), length(size) {
    high.resize(static_cast<std::size_t>(count * size * lanes));
    if (pairs) low.resize(high.size());
  }
  std::size_t at(Index bundle, Index i) const { return static_cast<std::size_t>((bundle * length + i) * lanes); }
  double* low_at(std::size_t place) { return low.empty() ? nullptr : &low[place]; }
  const double* low_at(std::size_t place) const { return low.empty() ? nullptr : &low[place]; }
};

/// Vectors to multiply by. Under Short their elements are rounded to T, and `precise` is empty.
template <class T>
struct Vectors {
  Bundles precise;
  std::vector<T> rounded;
  Index length = 0;
  Index bundles = 0;

  explicit Vectors(Bundles numbers, Sums how) : length(numbers.length), bundles(numbers.bundles) {
    if (how == Sums::Precise)
      precise = std::move(numbers);
    else
      rounded.assign(numbers.high.begin(), numbers.high.end());
  }
  Sums sums() const { return rounded.empty() ? Sums::Precise : Sums::Short; }
  std::size_t at(Index bundle, Index i) const { return static_cast<std::size_t>((bundle * length + i) * lanes); }
};

/// Adds Σ_p a[r·ld + p]·x_p to the sums of each row r, for the lanes of one bundle. Sums of neighbouring rows are
/// `lanes` numbers apart.
void add_precise(const float* a, Index ld, Index rows, Index count, const double* x, const double* x_low, double* sums,
                 double* sums_low);
void add_precise(const double* a, Index ld, Index rows, Index count, const double* x, const double* x_low, double* sums,
                 double* sums_low);
/// Does what add_precise() does, with chains in T. `count` is any number.
void add_short(const float* a, Index ld, Index rows, Index count, const float* x, double* sums, double* sums_low);
void add_short(const double* a, Index ld, Index rows, Index count, const double* x, double* sums, double* sums_low);

/// Sums over a row, from which bounds are computed.
struct RowSize {
  double sum = 0;      ///< Σ|x|
  double weighted = 0; ///< Σ|x|·weight
  double largest = 0;
  bool finite() const { return sum < std::numeric_limits<double>::infinity(); } // NaN is not
};

/// Adds the sizes of `count` elements of each of some rows to the rows' sums, in double. `weights` has one weight for
/// each column, or is null.
void add_sizes(const float* x, Index ld, Index rows, Index count, const double* weights, bool largest, RowSize* sizes);
void add_sizes(const double* x, Index ld, Index rows, Index count, const double* weights, bool largest, RowSize* sizes);
/// Adds sizes as add_sizes() does, by sums of at most short_chain terms in T. Their error is no more than γ_short_chain
/// of the sum.
void add_sizes_short(const float* x, Index ld, Index rows, Index count, const float* weights, bool largest,
                     RowSize* sizes);
void add_sizes_short(const double* x, Index ld, Index rows, Index count, const double* weights, bool largest,
                     RowSize* sizes);

/// Which sizes of rows are added up.
enum class Sizes { None, Sums, All };

/// Weights of a row's elements, one for each column; empty: none. Short sums take them rounded to T.
template <class T>
struct Weights {
  std::vector<double> precise;
  std::vector<T> rounded;
};

/// Computes y_i = Σ_j x_ij·v_j for each row i of x. Then calls body(i), with the row's sizes where `sizes` is asked
/// for. `beside` takes x as its B on the way.
template <class T, class Body>
void multiply(const ElementSource& x, const Vectors<T>& v, Bundles& y, int threads, Sizes sizes,
              const Weights<T>& weights, const Body& body, SampledRows<T>* beside = nullptr) {
  constexpr Index block_rows = 64;  // a multiple of the rows that are summed together
  constexpr Index row_piece = 1024; // of a row; pages are read whole, and the vectors' part fits the second cache
  static_assert(SampledRows<T>::group % block_rows == 0);
  const Index task_rows = beside != nullptr ? SampledRows<T>::group : block_rows;
  const auto multiply_block = [&](Index first, Index rows, T* buffer) {
    std::array<RowSize, block_rows> size{};
    for (Index j = 0; j < x.cols; j += row_piece) {
      const Index count = std::min(row_piece, x.cols - j);
      const Block<T> block = read_block<T>(x, first, rows, j, count, buffer);
      for (Index b = 0; b < v.bundles; ++b) {
        const std::size_t from = v.at(b, j);
        const std::size_t to = y.at(b, first);
        if (v.sums() == Sums::Short)
          add_short(block.data, block.ld, rows, count, &v.rounded[from], &y.high[to], y.low_at(to));
        else
          add_precise(block.data, block.ld, rows, count, &v.precise.high[from], v.precise.low_at(from), &y.high[to],
                      y.low_at(to));
      }
      if (beside != nullptr) beside->add(first, rows, j, count, block);
      if (sizes == Sizes::None) continue;
      const auto column = static_cast<std::size_t>(j);
      const bool all = sizes == Sizes::All;
      if (v.sums() == Sums::Short)
        add_sizes_short(block.data, block.ld, rows, count, weights.rounded.empty() ? nullptr : &weights.rounded[column],
                        all, size.data());
      else
        add_sizes(block.data, block.ld, rows, count, weights.precise.empty() ? nullptr : &weights.precise[column], all,
                  size.data());
    }
    for (Index r = 0; r < rows; ++r) body(first + r, size[static_cast<std::size_t>(r)]);
  };
  detail::parallel_for(static_cast<std::size_t>((x.rows + task_rows - 1) / task_rows), threads, [&](std::size_t task) {
    std::vector<T> buffer(is_native<T>(x) ? 0 : static_cast<std::size_t>(block_rows * row_piece));
    const Index begin = static_cast<Index>(task) * task_rows;
    for (Index first = begin; first < std::min(begin + task_rows, x.rows); first += block_rows)
      multiply_block(first, std::min(block_rows, x.rows - first), buffer.data());
  });
}

} // namespace tessera::compare
