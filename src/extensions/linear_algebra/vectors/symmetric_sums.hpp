#pragma once

/// The sums of a product with a symmetric or Hermitian matrix, of which one triangle is stored and read once.

#include <memory>
#include <new>

#include "dense/dense.hpp"
#include "matrix_vector.hpp"
#include "strips.hpp"

namespace tessera::vectors {

/// Where the parts of a sum are kept: a strip's, or null where it is not wanted.
template <class N>
class SumsOfStrips {
 public:
  /// Room for all strips, if there is memory.
  explicit SumsOfStrips(Index count) {
    if (count == 1)
      all_ = &one_;
    else
      many_.reset(all_ = new (std::nothrow) Chains<N>[static_cast<std::size_t>(count)]);
  }
  bool has_all() const { return all_ != nullptr; }
  /// Wants one strip alone.
  void want(Index strip) { only_ = strip; }
  Chains<N>* of(Index strip) {
    if (all_ != nullptr) return all_ + strip;
    return strip == only_ ? &one_ : nullptr;
  }

 private:
  Chains<N> one_;
  Chains<N>* all_ = nullptr;
  std::unique_ptr<Chains<N>[]> many_;
  Index only_ = -1;
};

/// The sums of a symmetric product, square by square of a segment's rows and columns. Each stored element is a term of
/// two sums: a(i, j)·x(j) of row i, and a(j, i)·x(i) of row j. Squares are taken so that the terms of a row come in
/// ascending order.
template <class N>
class SymmetricSums {
 public:
  SymmetricSums(const Symmetric<N>& a, const Strided<const N>& x, SumsOfStrips<N>& sums) : a_(a), x_(x), sums_(sums) {}

  void add_all() {
    const Index n = x_.size, count = (n + segment<N> - 1) / segment<N>;
    for (Index s = 0; s < count; ++s)
      if (Chains<N>* const sum = sums_.of(s)) begin_sums(*sum, std::min(segment<N>, n - s * segment<N>));
    for (Index s = 0; s < count; ++s) {
      const Index begin = s * segment<N>, end = std::min(n, begin + segment<N>);
      const Index first = a_.stored.first(begin), last = a_.stored.end(end - 1); // rows of these columns
      near_columns_ = columns_of_x_.of(x_, begin, end - begin);
      if (a_.half == Half::Upper)
        for (Index r = first / segment<N>; r < s; ++r) add_rectangle(r, s);
      add_diagonal_square(s);
      if (a_.half == Half::Lower)
        for (Index r = s + 1; r * segment<N> < last; ++r) add_rectangle(r, s);
    }
  }

 private:
  static constexpr Index strip = 256; ///< rows whose elements are read a second time while they are near

  /// How many columns a group has.
  Index width() const { return std::min(columns_by_rows(a_.stored), Index{tile_size<N>}); }

  /// Both kinds of terms of a group in rows r0 … r1 − 1.
  void add_both(Group<N>& group, const N* x_of_rows, Index rows_base, Index r0, Index r1, Index columns_base,
                Chains<N>& rows, Chains<N>& columns) const {
    for (Index begin = r0; begin < r1; begin += strip) {
      const Index end = std::min(r1, begin + strip);
      group.conjugated = a_.is_conjugated != a_.is_hermitian;
      add_rows(group, x_of_rows + (begin - rows_base), begin, end, false, columns_base, columns);
      group.conjugated = a_.is_conjugated;
      add_columns_by(group, x_, begin, end, rows_base, rows);
    }
  }

  void add_rectangle(Index row_strip, Index column_strip) {
    Chains<N>* const row_sums = sums_.of(row_strip);
    Chains<N>* const column_sums = sums_.of(column_strip);
    if (row_sums == nullptr && column_sums == nullptr) return;
    const Columns<const N>& a = a_.stored;
    const Index r0 = row_strip * segment<N>, r1 = std::min(a.rows, r0 + segment<N>);
    const Index c0 = column_strip * segment<N>, c1 = std::min(a.cols, c0 + segment<N>);
    const Index first = std::max(c0, a.first_column(r0)), last = std::min(c1, a.end_column(r1));
    if (first >= last) return;
    const N* const x_of_rows = rows_of_x_.of(x_, r0, r1 - r0);
    rows_.begin(r1 - r0);
    columns_.begin(c1 - c0);
    for_groups(a, first, last, width(), a_.is_conjugated,
               [&](Group<N> group) { add_both(group, x_of_rows, r0, r0, r1, c0, rows_, columns_); });
    if (column_sums != nullptr) column_sums->add(columns_, first - c0, last - c0);
    if (row_sums != nullptr)
      row_sums->add(rows_, std::max(r0, a.first(first)) - r0, std::min(r1, a.end(last - 1)) - r0);
  }

  /// The square of rows and columns first … first + count − 1 by the loop of dense/dense.hpp, if it takes it.
  bool add_dense_square([[maybe_unused]] Index first, [[maybe_unused]] Index count, [[maybe_unused]] Index base) {
#if TESSERA_HAS_WIDE
    const Columns<const N>& a = a_.stored;
    if (!has_wide() || a.below + a.above < a.rows - 1) return false;
    const Mirror mirror{.upper = a_.half == Half::Upper,
                        .conjugates_stored = a_.is_conjugated,
                        .conjugates_mirrored = a_.is_conjugated != a_.is_hermitian,
                        .real_diagonal = a.diagonal == OnDiagonal::Real};
    alignas(32) N chain[tile_size<N>];
    auto* const numbers = parts_of(chain);
    constexpr int parts = Parts<N>::count;
    for (int p = 0; p < parts; ++p)
      for (Index i = 0; i < count; ++i) numbers[i * parts + p] = rows_.part[p][first + i - base];
    add_square(Walk<N>{a.column(first) + first, a.step + a.growth * (first + 1), a.growth}, mirror, count,
               near_columns_ + (first - base), chain);
    for (int p = 0; p < parts; ++p)
      for (Index i = 0; i < count; ++i) rows_.part[p][first + i - base] = numbers[i * parts + p];
    return true;
#else
    return false;
#endif
  }

  void add_diagonal_square(Index s) {
    Chains<N>* const sums = sums_.of(s);
    if (sums == nullptr) return;
    const Columns<const N>& a = a_.stored;
    const Index begin = s * segment<N>, end = std::min(a.cols, begin + segment<N>);
    const bool upper = a_.half == Half::Upper;
    rows_.begin(end - begin);
    for_groups(a, begin, end, width(), a_.is_conjugated, [&](Group<N> group) {
      const Index first = group.number[0], last = first + group.count;
      if (upper) add_both(group, near_columns_, begin, begin, first, begin, rows_, rows_);
      if (!add_dense_square(first, group.count, begin))
        add_square(group, upper, a_.is_hermitian, near_columns_, begin, rows_);
      if (!upper) add_both(group, near_columns_, begin, last, end, begin, rows_, rows_);
    });
    sums->add(rows_, 0, end - begin);
  }

  const Symmetric<N>& a_;
  const Strided<const N>& x_;
  SumsOfStrips<N>& sums_;
  Chains<N> rows_, columns_;
  SideBySide<N, segment<N>> rows_of_x_, columns_of_x_;
  const N* near_columns_ = nullptr;
};

} // namespace tessera::vectors
