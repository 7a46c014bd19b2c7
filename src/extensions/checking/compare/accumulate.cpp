#include "accumulate.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace tessera::compare {
namespace {

template <class T>
[[gnu::always_inline]] inline void measure_strip(const T* __restrict b, Index count, StripNorms<T>& norms) {
  constexpr Index width = strip<T>;
  StripNorms<T> own = norms;
  for (Index p = 0; p < count; ++p)
    for (Index q = 0; q < width; ++q) {
      const double size = std::abs(static_cast<double>(b[p * width + q]));
      const bool finite = size <= std::numeric_limits<double>::max(); // false of NaN
      const double counted = finite ? size : 0.0;
      own.exceptions[q] += finite ? 0.0 : 1.0;
      own.sum[q] += counted;
      own.squares[q] = std::fma(counted, counted, own.squares[q]);
      own.largest[q] = own.largest[q] > counted ? own.largest[q] : counted;
    }
  norms = own;
}

template <class T>
[[gnu::always_inline]] inline void pack(const T* __restrict b, Index ldb, Index depth, Index columns,
                                        T* __restrict packed) {
  constexpr Index width = strip<T>;
  constexpr Index ahead = 8;        // rows
  for (Index p = 0; p < depth; ++p) // rows are read as they lie in memory
    for (Index j = 0; j < columns; j += width) {
      const Index used = std::min(width, columns - j);
      const T* row = b + p * ldb + j;
      if (p + ahead < depth) __builtin_prefetch(row + ahead * ldb);
      T* to = packed + j * depth + p * width;
      if (used == width) // a copy of known length is compiled to vector moves
        std::memcpy(to, row, width * sizeof(T));
      else
        for (Index q = 0; q < width; ++q) to[q] = q < used ? row[q] : T{0};
    }
}

} // namespace

TESSERA_WIDE_CLONES void pack_strips(const float* b, Index ldb, Index depth, Index columns, float* packed) {
  pack(b, ldb, depth, columns, packed);
}
TESSERA_WIDE_CLONES void pack_strips(const double* b, Index ldb, Index depth, Index columns, double* packed) {
  pack(b, ldb, depth, columns, packed);
}

TESSERA_WIDE_CLONES void measure(const float* b, Index count, StripNorms<float>& norms) {
  measure_strip(b, count, norms);
}
TESSERA_WIDE_CLONES void measure(const double* b, Index count, StripNorms<double>& norms) {
  measure_strip(b, count, norms);
}

TESSERA_WIDE_CLONES void accumulate(const float* __restrict a, const float* __restrict b, Index count,
                                    StripSums<float>& sums) {
  constexpr Index width = strip<float>;
  StripSums<float> own = sums; // a copy in registers
  for (Index p = 0; p < count; ++p) {
    const double wide = a[p];
    const double size = std::abs(wide);
    for (Index q = 0; q < width; ++q) { // the product of two floats is exact in double, as in gold
      const double factor = static_cast<double>(b[p * width + q]);
      own.high[q] = std::fma(wide, factor, own.high[q]);
      own.magnitude[q] = std::fma(size, std::abs(factor), own.magnitude[q]);
    }
    for (Index q = 0; q < width; ++q) own.chain[q] = std::fma(a[p], b[p * width + q], own.chain[q]);
  }
  sums = own;
}

TESSERA_WIDE_CLONES void accumulate(const double* __restrict a, const double* __restrict b, Index count,
                                    StripSums<double>& sums) {
  constexpr Index width = strip<double>;
  StripSums<double> own = sums;
  for (Index p = 0; p < count; ++p, b += width) {
    const double factor = a[p];
    const double size = std::abs(factor);
    for (Index q = 0; q < width; ++q) {
      const Pair sum = add_product({own.high[q], own.low[q]}, factor, b[q]);
      own.high[q] = sum.high;
      own.low[q] = sum.low;
      own.magnitude[q] = std::fma(size, std::abs(b[q]), own.magnitude[q]);
      own.chain[q] = std::fma(factor, b[q], own.chain[q]);
    }
  }
  sums = own;
}

} // namespace tessera::compare
