#include "product.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "parallel.hpp"
#include "wide_call.hpp"

namespace tessera::compare {
namespace {

/// Rows and columns of a packed piece of B, which several rows of A use before the next piece is packed. 256 × 256 f64
/// fill half a megabyte. It divides canonical_segment.
constexpr Index piece = 256;
constexpr std::size_t rows_per_task = 32;
static_assert(canonical_segment % piece == 0);

template <class T>
void include(VectorNorms& norms, T value) {
  const double size = std::abs(static_cast<double>(value));
  if (std::isfinite(size)) {
    norms.sum += size;
    norms.largest = std::max(norms.largest, size);
    norms.squares.add(size);
  } else {
    norms.finite = false;
  }
}

/// Returns the sum of terms among which NaN or Inf are. The function leaves finite terms out, because they may overflow
/// on the way and do not change the result.
template <class T>
double sum_of_exceptions(const GemmOperands<T>& x, Index i, Index j) {
  bool plus = false;
  bool minus = false;
  for (Index p = 0; p < x.k; ++p) {
    const double a = x.at_a(i, p);
    const double b = x.at_b(p, j);
    if (std::isfinite(a) && std::isfinite(b)) continue;
    const double term = a * b;
    if (std::isnan(term)) return term;
    (term > 0 ? plus : minus) = true;
  }
  if (plus && minus) return std::numeric_limits<double>::quiet_NaN();
  return plus ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
}

/// Returns op(B) row by row, for a B that is stored transposed.
template <class T>
std::vector<T> transposed(const GemmOperands<T>& x) {
  std::vector<T> b(static_cast<std::size_t>(x.k * x.n));
  constexpr Index tile = 32;
  for (Index j0 = 0; j0 < x.n; j0 += tile)
    for (Index p0 = 0; p0 < x.k; p0 += tile)
      for (Index j = j0; j < std::min(x.n, j0 + tile); ++j)
        for (Index p = p0; p < std::min(x.k, p0 + tile); ++p) b[static_cast<std::size_t>(p * x.n + j)] = x.at_b(p, j);
  return b;
}

/// Copies element (p, s·strip + q) of b to packed[(s·depth + p)·strip + q]; columns beyond the last one are zeros.
template <class T>
void pack_strips(const T* b, Index ldb, Index depth, Index columns, T* packed) {
  for (Index j = 0; j < columns; j += strip<T>) {
    const Index used = std::min(strip<T>, columns - j);
    for (Index p = 0; p < depth; ++p, packed += strip<T>) {
      if (used == strip<T>) { // a copy of known length is compiled to vector moves
        std::copy_n(b + p * ldb + j, strip<T>, packed);
        continue;
      }
      std::copy_n(b + p * ldb + j, used, packed);
      std::fill_n(packed + used, strip<T> - used, T{0});
    }
  }
}

} // namespace

template <class T>
Product<T>::Product(const GemmCall& call, std::vector<Index> wanted, int threads)
    : m(call.m), n(call.n), k(call.k), alpha(call.alpha), beta(call.beta), rows(std::move(wanted)) {
  GemmOperands<T> x(call);
  const bool reads_inputs = call.alpha != 0; // by the contract, alpha = 0 means that A and B are not read
  if (!reads_inputs) x.k = 0;
  const std::size_t elements = rows.size() * static_cast<std::size_t>(n);
  high.resize(elements);
  if (sizeof(T) == sizeof(double)) low.resize(elements);
  magnitude.resize(elements);
  if (beta != 0) old.resize(elements);
  gold.resize(elements);
  canonical.resize(elements);
  row_norms.resize(rows.size());
  col_norms.resize(static_cast<std::size_t>(n));
  scalars_finite = std::isfinite(alpha) && std::isfinite(beta);

  std::vector<T> copy;
  const T* b = x.b;
  Index ldb = x.ldb;
  if (x.op_b == Op::Transpose && x.k > 0) {
    copy = transposed(x);
    b = copy.data();
    ldb = n;
  }
  measure_a(x, threads);
  measure_columns(b, ldb, x.k, threads);
  for (const VectorNorms& column : col_norms) largest_b = std::max(largest_b, column.largest);
  const std::size_t tasks = (rows.size() + rows_per_task - 1) / rows_per_task;
  parallel(tasks, threads, [&](std::size_t task) {
    const std::size_t first = task * rows_per_task;
    sum_rows(x, b, ldb, first, std::min(first + rows_per_task, rows.size()));
  });
}

/// Finds the largest element of A. The rows of the product may be a sample.
template <class T>
void Product<T>::measure_a(const GemmOperands<T>& x, int threads) {
  const Index stored_rows = x.op_a == Op::None ? x.m : x.k, stored_cols = x.op_a == Op::None ? x.k : x.m;
  std::vector<double> largest(static_cast<std::size_t>((stored_rows + piece - 1) / piece));
  parallel(largest.size(), threads, [&](std::size_t task) {
    const Index first = static_cast<Index>(task) * piece;
    T most = 0;
    for (Index i = first; i < std::min(first + piece, stored_rows); ++i)
      for (Index j = 0; j < stored_cols; ++j) {
        const T size = std::abs(x.a[i * x.lda + j]);
        if (size <= std::numeric_limits<T>::max()) most = std::max(most, size); // false of NaN
      }
    largest[task] = most;
  });
  for (const double one : largest) largest_a = std::max(largest_a, one);
}

template <class T>
void Product<T>::measure_columns(const T* b, Index ldb, Index depth, int threads) {
  parallel(static_cast<std::size_t>((n + piece - 1) / piece), threads, [&](std::size_t task) {
    const Index first = static_cast<Index>(task) * piece;
    const Index last = std::min(first + piece, n);
    for (Index p = 0; p < depth; ++p)
      for (Index j = first; j < last; ++j) include(col_norms[static_cast<std::size_t>(j)], b[p * ldb + j]);
    for (Index j = first; j < last; ++j) {
      VectorNorms& norms = col_norms[static_cast<std::size_t>(j)];
      norms.two = norms.squares.value();
    }
  });
}

template <class T>
void Product<T>::sum_rows(const GemmOperands<T>& x, const T* b, Index ldb, std::size_t first, std::size_t last) {
  constexpr Index width = strip<T>;
  constexpr Index strips = piece / width;
  std::vector<T> packed(static_cast<std::size_t>(piece * piece));
  std::vector<T> row_of_a(static_cast<std::size_t>(piece));
  std::vector<StripSums<T>> sums((last - first) * static_cast<std::size_t>(strips));
  for (Index j0 = 0; j0 < n; j0 += piece) {
    const Index used = (std::min(piece, n - j0) + width - 1) / width;
    std::fill(sums.begin(), sums.end(), StripSums<T>{});
    for (Index p0 = 0; p0 < x.k; p0 += piece) {
      const Index depth = std::min(piece, x.k - p0);
      pack_strips(b + p0 * ldb + j0, ldb, depth, std::min(piece, n - j0), packed.data());
      const bool segment_ends = (p0 + depth) % canonical_segment == 0 || p0 + depth == x.k;
      for (std::size_t r = first; r < last; ++r) {
        for (Index p = 0; p < depth; ++p) row_of_a[static_cast<std::size_t>(p)] = x.at_a(rows[r], p0 + p);
        for (Index s = 0; s < used; ++s) {
          StripSums<T>& own = sums[(r - first) * static_cast<std::size_t>(strips) + static_cast<std::size_t>(s)];
          accumulate(row_of_a.data(), packed.data() + s * depth * width, depth, own);
          if (segment_ends) close_segment(r, j0 + s * width, p0 + depth <= canonical_segment, own);
        }
      }
    }
    for (std::size_t r = first; r < last; ++r)
      for (Index s = 0; s < used; ++s)
        keep(r, j0 + s * width, sums[(r - first) * static_cast<std::size_t>(strips) + static_cast<std::size_t>(s)]);
  }
  for (std::size_t r = first; r < last; ++r) finish_row(x, r);
}

/// Adds the chains to the canonical sums of row number r from column j on, and sets the chains to zero.
template <class T>
void Product<T>::close_segment(std::size_t r, Index j, bool is_first, StripSums<T>& sums) {
  for (Index q = 0; q < std::min(strip<T>, n - j); ++q) {
    T& sum = canonical[at(r, j + q)];
    sum = is_first ? sums.chain[q] : sum + sums.chain[q];
  }
  std::fill(std::begin(sums.chain), std::end(sums.chain), T{0});
}

template <class T>
void Product<T>::keep(std::size_t r, Index j, const StripSums<T>& sums) {
  for (Index q = 0; q < std::min(strip<T>, n - j); ++q) {
    high[at(r, j + q)] = sums.high[q];
    if (!low.empty()) low[at(r, j + q)] = sums.low[q];
    magnitude[at(r, j + q)] = sums.magnitude[q];
  }
}

template <class T>
void Product<T>::finish_row(const GemmOperands<T>& x, std::size_t r) {
  const Index i = rows[r];
  for (Index p = 0; p < x.k; ++p) include(row_norms[r], x.at_a(i, p));
  row_norms[r].two = row_norms[r].squares.value();
  const T* c = x.c + i * x.ldc;
  for (Index j = 0; j < n; ++j) {
    const std::size_t e = at(r, j);
    const VectorNorms& column = col_norms[static_cast<std::size_t>(j)];
    const bool finite = row_norms[r].finite && column.finite;
    if (!finite && !std::isfinite(row_norms[r].largest * column.largest * static_cast<double>(k)))
      high[e] = sum_of_exceptions(x, i, j);

    T result = x.alpha * canonical[e];
    if (beta != 0) {
      result = std::fma(x.beta, c[j], result);
      old[e] = std::isfinite(c[j]) ? std::abs(beta * static_cast<double>(c[j])) : c[j] * T{0};
    }
    canonical[e] = result;

    if (low.empty() || !std::isfinite(high[e])) { // the low part of Inf or NaN has no meaning
      high[e] = alpha * high[e];
      if (beta != 0) high[e] = std::fma(beta, static_cast<double>(c[j]), high[e]);
      if (!low.empty()) low[e] = 0;
      gold[e] = static_cast<T>(high[e]);
    } else {
      Pair pair = add_product({alpha * low[e], 0}, alpha, high[e]);
      if (beta != 0) pair = add_product(pair, beta, static_cast<double>(c[j]));
      const bool overflowed = !std::isfinite(pair.high);
      high[e] = pair.high;
      low[e] = overflowed ? 0 : pair.low;
      gold[e] = static_cast<T>(high[e] + low[e]);
    }
  }
}

template <class T>
void Product<T>::round_results(DType type) {
  for (std::size_t e = 0; e < gold.size(); ++e) {
    gold[e] = rounded(high[e], type);
    canonical[e] = rounded(static_cast<float>(canonical[e]), type);
  }
}

template <class T>
bool Product<T>::exceptional(std::size_t r, Index j) const {
  if (!scalars_finite || !row_norms[r].finite || !col_norms[static_cast<std::size_t>(j)].finite) return true;
  return !old.empty() && std::isnan(old[at(r, j)]);
}

template struct Product<float>;
template struct Product<double>;

} // namespace tessera::compare
