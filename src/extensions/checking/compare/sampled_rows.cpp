#include "sampled_rows.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tessera::compare {
namespace {

/// Sums of one row and of some columns, which stay in registers.
template <class T, int width>
struct Registers;
template <int width>
struct Registers<float, width> {
  double high[width], magnitude[width];

  [[gnu::always_inline]] void load(const RowStrip<float>& sums, Index column) {
    for (int q = 0; q < width; ++q) high[q] = sums.high[column + q];
    for (int q = 0; q < width; ++q) magnitude[q] = sums.magnitude[column + q];
  }
  [[gnu::always_inline]] void store(RowStrip<float>& sums, Index column) const {
    for (int q = 0; q < width; ++q) sums.high[column + q] = high[q];
    for (int q = 0; q < width; ++q) sums.magnitude[column + q] = magnitude[q];
  }
  [[gnu::always_inline]] void add(const Factor& a, const double* b, const double* size) {
    for (int q = 0; q < width; ++q) high[q] = std::fma(a.value, b[q], high[q]); // the product of two floats is exact
    for (int q = 0; q < width; ++q) magnitude[q] = std::fma(a.size, size[q], magnitude[q]);
  }
};
template <int width>
struct Registers<double, width> {
  double high[width], low[width], magnitude[width];

  [[gnu::always_inline]] void load(const RowStrip<double>& sums, Index column) {
    for (int q = 0; q < width; ++q) high[q] = sums.high[column + q];
    for (int q = 0; q < width; ++q) low[q] = sums.low[column + q];
    for (int q = 0; q < width; ++q) magnitude[q] = sums.magnitude[column + q];
  }
  [[gnu::always_inline]] void store(RowStrip<double>& sums, Index column) const {
    for (int q = 0; q < width; ++q) sums.high[column + q] = high[q];
    for (int q = 0; q < width; ++q) sums.low[column + q] = low[q];
    for (int q = 0; q < width; ++q) sums.magnitude[column + q] = magnitude[q];
  }
  [[gnu::always_inline]] void add(const Factor& a, const double* b, const double* size) {
    for (int q = 0; q < width; ++q) {
      const Pair sum = add_product({high[q], low[q]}, a.value, b[q]);
      high[q] = sum.high;
      low[q] = sum.low;
    }
    for (int q = 0; q < width; ++q) magnitude[q] = std::fma(a.size, size[q], magnitude[q]);
  }
};

/// Adds a[r·lda + p]·b[p·ldb + q] to the sums of some rows r, for p = 0 … depth − 1 and `width` columns q from `column`
/// on. Rows are `step` strips apart. The loop over them is unrolled.
template <int width, class T, std::size_t... row>
[[gnu::always_inline]] inline void add_rows(std::index_sequence<row...>, const Factor* __restrict a, Index lda,
                                            const T* __restrict b, Index ldb, Index depth, RowStrip<T>* sums,
                                            std::size_t step, Index column) {
  Registers<T, width> own[sizeof...(row)];
  (own[row].load(sums[row * step], column), ...);
  for (Index p = 0; p < depth; ++p) {
    double factor[width], size[width];
    for (int q = 0; q < width; ++q) factor[q] = static_cast<double>(b[p * ldb + column + q]);
    for (int q = 0; q < width; ++q) size[q] = std::abs(factor[q]);
    (own[row].add(a[static_cast<Index>(row) * lda + p], factor, size), ...);
  }
  (own[row].store(sums[row * step], column), ...);
}

template <int width, class T>
[[gnu::always_inline]] inline void add_strip(const Factor* a, Index lda, std::size_t rows, const T* b, Index ldb,
                                             Index depth, RowStrip<T>* sums, std::size_t step) {
  constexpr std::size_t height = sizeof(T) == sizeof(float) ? 2 : 1; // compilers do not vectorize the pairs of two rows
  const auto add = [&](auto at_once, std::size_t r, Index column) __attribute__((always_inline)) {
    add_rows<width>(at_once, a + static_cast<Index>(r) * lda, lda, b, ldb, depth, sums + r * step, step, column);
  };
  for (Index column = 0; column < strip<T>; column += width) {
    std::size_t r = 0;
    for (; r + height <= rows; r += height) add(std::make_index_sequence<height>{}, r, column);
    if (r < rows) add(std::make_index_sequence<1>{}, r, column);
  }
}

#if defined(TESSERA_AVX512)
TESSERA_AVX512 void add_wide(const Factor* a, Index lda, std::size_t rows, const float* b, Index ldb, Index depth,
                             RowStrip<float>* sums, std::size_t step) {
  add_strip<16>(a, lda, rows, b, ldb, depth, sums, step);
}
TESSERA_AVX512 void add_wide(const Factor* a, Index lda, std::size_t rows, const double* b, Index ldb, Index depth,
                             RowStrip<double>* sums, std::size_t step) {
  add_strip<8>(a, lda, rows, b, ldb, depth, sums, step);
}
#endif
TESSERA_FMA_CLONES void add_narrow(const Factor* a, Index lda, std::size_t rows, const float* b, Index ldb, Index depth,
                                   RowStrip<float>* sums, std::size_t step) {
  add_strip<8>(a, lda, rows, b, ldb, depth, sums, step);
}
TESSERA_FMA_CLONES void add_narrow(const Factor* a, Index lda, std::size_t rows, const double* b, Index ldb,
                                   Index depth, RowStrip<double>* sums, std::size_t step) {
  add_strip<4>(a, lda, rows, b, ldb, depth, sums, step);
}

template <class T>
void add_strip_of(const Factor* a, Index lda, std::size_t rows, const Block<T>& b, Index depth, RowStrip<T>* sums,
                  std::size_t step) {
#if defined(TESSERA_AVX512)
  if (__builtin_cpu_supports("avx512f")) return add_wide(a, lda, rows, b.data, b.ld, depth, sums, step);
#endif
  add_narrow(a, lda, rows, b.data, b.ld, depth, sums, step);
}

/// Adds the sums of one more group to a total.
void add_group(RowStrip<float>& total, const RowStrip<float>& own) {
  for (Index q = 0; q < strip<float>; ++q) total.high[q] += own.high[q];
  for (Index q = 0; q < strip<float>; ++q) total.magnitude[q] += own.magnitude[q];
}
void add_group(RowStrip<double>& total, const RowStrip<double>& own) {
  for (Index q = 0; q < strip<double>; ++q) {
    const double sum = total.high[q] + own.high[q];
    const double part = sum - total.high[q];
    total.low[q] += (total.high[q] - (sum - part)) + (own.high[q] - part) + own.low[q];
    total.high[q] = sum;
    total.magnitude[q] += own.magnitude[q];
  }
}

} // namespace

template <class T>
SampledRows<T>::SampledRows(const ElementSource& a, std::span<const Index> rows, Index columns)
    : rows_(rows.size()),
      depth_(a.cols),
      columns_(columns),
      strips_((columns + strip<T> - 1) / strip<T>),
      groups_((a.cols + group - 1) / group),
      a_(rows.size() * static_cast<std::size_t>(a.cols)),
      sums_(std::make_unique_for_overwrite<RowStrip<T>[]>(at(groups_, 0, 0))) {
  for (std::size_t r = 0; r < rows_; ++r)
    visit_elements<double>(a, [&](auto read) {
      for (Index p = 0; p < depth_; ++p) {
        const double value = read(rows[r] * a.row + p * a.col);
        a_[r * static_cast<std::size_t>(depth_) + static_cast<std::size_t>(p)] = {value, std::abs(value)};
      }
    });
}

template <class T>
void SampledRows<T>::add(Index p, Index depth, Index j, Index columns, Block<T> b) {
  const auto step = static_cast<std::size_t>(strips_);
  for (Index first = 0; first < columns; first += strip<T>, b.data += strip<T>) {
    RowStrip<T>* sums = &sums_[at(p / group, 0, (j + first) / strip<T>)];
    if (p % group == 0)
      for (std::size_t r = 0; r < rows_; ++r) sums[r * step] = {};
    const Index used = std::min(strip<T>, columns - first);
    if (used == strip<T>) {
      add_strip_of(a_.data() + p, depth_, rows_, b, depth, sums, step);
      continue;
    }
    T whole[group * strip<T>]; // the last strip, with zeros after the last column
    for (Index row = 0; row < depth; ++row)
      for (Index q = 0; q < strip<T>; ++q) whole[row * strip<T> + q] = q < used ? b.data[row * b.ld + q] : T{0};
    add_strip_of(a_.data() + p, depth_, rows_, Block<T>{whole, strip<T>}, depth, sums, step);
  }
}

template <class T>
void SampledRows<T>::write(std::size_t r, double* high, double* low, double* magnitude) const {
  for (Index s = 0; s < strips_; ++s) {
    RowStrip<T> total{};
    for (Index of_group = 0; of_group < groups_; ++of_group) add_group(total, sums_[at(of_group, r, s)]);
    const auto used = static_cast<std::size_t>(std::min(strip<T>, columns_ - s * strip<T>));
    high = std::copy_n(total.high, used, high);
    if constexpr (sizeof(T) == sizeof(double)) low = std::copy_n(total.low, used, low);
    magnitude = std::copy_n(total.magnitude, used, magnitude);
  }
}

template class SampledRows<float>;
template class SampledRows<double>;

} // namespace tessera::compare
