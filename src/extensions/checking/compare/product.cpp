#include "product.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "core/base/thread_team.hpp"
#include "narrow.hpp"

namespace tessera::compare {
namespace {

/// Rows and columns of a packed piece of B, which several rows of A use before the next piece is packed. 256 × 256 f64
/// fill half a megabyte. It divides canonical_segment.
constexpr Index piece = 256;
constexpr std::size_t rows_per_task = 32;
/// A thread takes so many rows of A at a time, to find their norms.
constexpr Index rows_per_block = 64;
static_assert(canonical_segment % piece == 0);

/// Adds an element of any size to the norms.
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
double sum_of_exceptions(const ProductSource& x, Index depth, Index i, Index j) {
  bool plus = false;
  bool minus = false;
  for (Index p = 0; p < depth; ++p) {
    const double a = element_at<T>(x.a, i, p);
    const double b = element_at<T>(x.b, p, j);
    if (std::isfinite(a) && std::isfinite(b)) continue;
    const double term = a * b;
    if (std::isnan(term)) return term;
    (term > 0 ? plus : minus) = true;
  }
  if (plus && minus) return std::numeric_limits<double>::quiet_NaN();
  return plus ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
}

/// Returns the k that is summed over: by the contract, alpha = 0 means that A and B are not read.
Index depth_of(const ProductSource& x) { return x.alpha != 0 ? x.a.cols : 0; }

} // namespace

ProductSource ProductSource::of(const GemmCall& call) {
  const auto source = [](const void* data, DType type, Index ld, Index rows, Index cols, Op op) {
    const bool flipped = op != Op::None;
    return ElementSource{static_cast<CheckedType>(type), data, rows, cols, flipped ? 1 : ld, flipped ? ld : 1};
  };
  return {source(call.a, call.type, call.lda, call.m, call.k, call.op_a),
          source(call.b, call.type, call.ldb, call.k, call.n, call.op_b),
          source(call.c, call.result, call.ldc, call.m, call.n, Op::None), call.alpha, call.beta};
}

template <class T>
ReferenceProduct<T>::ReferenceProduct(const ProductSource& x, std::vector<Index>&& wanted)
    : shape{.m = x.a.rows, .n = x.b.cols, .k = x.a.cols}, alpha(x.alpha), beta(x.beta), rows(std::move(wanted)) {
  const std::size_t elements = rows.size() * static_cast<std::size_t>(shape.n);
  high.resize(elements);
  if (sizeof(T) == sizeof(double)) low.resize(elements);
  magnitude.resize(elements);
  if (beta != 0) old.resize(elements);
  gold.resize(elements);
  canonical.resize(elements);
  row_norms.resize(rows.size());
  col_norms.resize(static_cast<std::size_t>(shape.n));
  scalars_finite = std::isfinite(alpha) && std::isfinite(beta);
}

template <class T>
void ReferenceProduct<T>::keep_sizes(const KnownSizes& known) {
  largest_a = known.largest_a;
  largest_b = known.largest_b;
  for (VectorNorms& column : col_norms) column.largest = known.largest_b;
}

template <class T>
ReferenceProduct<T>::ReferenceProduct(const ProductSource& x, std::vector<Index> wanted, int threads,
                                      const std::optional<KnownSizes>& known)
    : ReferenceProduct(x, std::move(wanted)) {
  const Index depth = depth_of(x);
  if (known)
    keep_sizes(*known);
  else
    measure_a(x.a, depth, threads);
  const std::size_t pieces = static_cast<std::size_t>((shape.n + piece - 1) / piece);
  const std::size_t row_blocks = std::max<std::size_t>(1, (rows.size() + rows_per_task - 1) / rows_per_task);
  detail::parallel_for(row_blocks * pieces, threads, [&](std::size_t task) {
    const std::size_t first = task / pieces * rows_per_task;
    const Index j = static_cast<Index>(task % pieces) * piece;
    sum_piece(x, depth, first, std::min(first + rows_per_task, rows.size()), j, first == 0 && !known);
  });
  for (const VectorNorms& column : col_norms) largest_b = std::max(largest_b, column.largest);
  detail::parallel_for(rows.size(), threads, [&](std::size_t r) { finish_row(x, depth, r); });
}

template <class T>
ReferenceProduct<T>::ReferenceProduct(const ProductSource& x, std::vector<Index> wanted, int threads,
                                      const KnownSizes& known, const SampledRows<T>& sums)
    : ReferenceProduct(x, std::move(wanted)) {
  keep_sizes(known);
  detail::parallel_for(rows.size(), threads, [&](std::size_t r) {
    sums.write(r, &high[at(r, 0)], low.empty() ? nullptr : &low[at(r, 0)], &magnitude[at(r, 0)]);
    finish_row(x, depth_of(x), r);
  });
  canonical = gold;
}

/// Finds the largest element of A. The rows of the product may be a sample.
template <class T>
void ReferenceProduct<T>::measure_a(const ElementSource& a, Index depth, int threads) {
  std::vector<double> largest(static_cast<std::size_t>((shape.m + rows_per_block - 1) / rows_per_block));
  detail::parallel_for(largest.size(), threads, [&](std::size_t task) {
    const Index first = static_cast<Index>(task) * rows_per_block;
    const Index count = std::min(rows_per_block, shape.m - first);
    std::vector<T> buffer(is_native<T>(a) ? 0 : static_cast<std::size_t>(rows_per_block * piece));
    T most = 0;
    for (Index p = 0; p < depth; p += piece) {
      const Index width = std::min(piece, depth - p);
      const Block<T> block = read_block<T>(a, first, count, p, width, buffer.data());
      for (Index i = 0; i < count; ++i)
        for (Index q = 0; q < width; ++q) {
          const T size = std::abs(block.data[i * block.ld + q]);
          if (size <= std::numeric_limits<T>::max()) most = std::max(most, size); // false of NaN
        }
    }
    largest[task] = most;
  });
  largest_a = 0;
  for (const double one : largest) largest_a = std::max(largest_a, one);
}

/// Takes over the norms of the columns from j on, which were measured strip by strip.
template <class T>
void ReferenceProduct<T>::keep_norms(const ElementSource& b, Index depth, Index j, const StripNorms<T>& strip_norms) {
  for (Index q = 0; q < std::min(strip<T>, shape.n - j); ++q) {
    VectorNorms& norms = col_norms[static_cast<std::size_t>(j + q)];
    norms.sum = strip_norms.sum[q];
    norms.largest = strip_norms.largest[q];
    norms.finite = strip_norms.exceptions[q] == 0;
    if (sizeof(T) == sizeof(float) || norms.largest == 0 || (norms.largest < 0x1p480 && norms.largest > 0x1p-400))
      norms.squares.add_squares(strip_norms.squares[q]);
    else // the squares may have overflowed or vanished
      for (Index p = 0; p < depth; ++p)
        if (const double value = element_at<T>(b, p, j + q); std::isfinite(value)) norms.squares.add(value);
    norms.two = norms.squares.value();
  }
}

/// Computes columns j … j + piece − 1 of some rows, and measures these columns of B if it is asked to.
template <class T>
void ReferenceProduct<T>::sum_piece(const ProductSource& x, Index depth, std::size_t first, std::size_t last, Index j,
                                    bool measures) {
  constexpr Index width = strip<T>;
  constexpr Index strips = piece / width;
  const Index columns = std::min(piece, shape.n - j);
  const Index used = (columns + width - 1) / width;
  const auto packed = std::make_unique_for_overwrite<T[]>(static_cast<std::size_t>(piece * piece));
  const auto buffer =
      std::make_unique_for_overwrite<T[]>(is_native<T>(x.b) ? 0 : static_cast<std::size_t>(piece * piece));
  std::vector<T> row_buffer(static_cast<std::size_t>(piece));
  std::vector<StripSums<T>> sums((last - first) * static_cast<std::size_t>(strips));
  std::vector<StripNorms<T>> norms(static_cast<std::size_t>(strips));
  for (Index p = 0; p < depth; p += piece) {
    const Index count = std::min(piece, depth - p);
    const Block<T> block = read_block<T>(x.b, p, count, j, columns, buffer.get());
    pack_strips(block.data, block.ld, count, columns, packed.get());
    if (measures)
      for (Index s = 0; s < used; ++s)
        measure(packed.get() + s * count * width, count, norms[static_cast<std::size_t>(s)]);
    const bool segment_ends = (p + count) % canonical_segment == 0 || p + count == depth;
    for (std::size_t r = first; r < last; ++r) {
      const Block<T> row = read_block<T>(x.a, rows[r], 1, p, count, row_buffer.data());
      for (Index s = 0; s < used; ++s) {
        StripSums<T>& own = sums[(r - first) * static_cast<std::size_t>(strips) + static_cast<std::size_t>(s)];
        accumulate(row.data, packed.get() + s * count * width, count, own);
        if (segment_ends) close_segment(r, j + s * width, p + count <= canonical_segment, own);
      }
    }
  }
  for (std::size_t r = first; r < last; ++r)
    for (Index s = 0; s < used; ++s)
      keep(r, j + s * width, sums[(r - first) * static_cast<std::size_t>(strips) + static_cast<std::size_t>(s)]);
  if (measures)
    for (Index s = 0; s < used; ++s) keep_norms(x.b, depth, j + s * width, norms[static_cast<std::size_t>(s)]);
}

/// Adds the chains to the strict sums of row number r from column j on, and sets the chains to zero.
template <class T>
void ReferenceProduct<T>::close_segment(std::size_t r, Index j, bool is_first, StripSums<T>& sums) {
  for (Index q = 0; q < std::min(strip<T>, shape.n - j); ++q) {
    T& sum = canonical[at(r, j + q)];
    sum = is_first ? sums.chain[q] : sum + sums.chain[q];
  }
  std::fill(std::begin(sums.chain), std::end(sums.chain), T{0});
}

template <class T>
void ReferenceProduct<T>::keep(std::size_t r, Index j, const StripSums<T>& sums) {
  for (Index q = 0; q < std::min(strip<T>, shape.n - j); ++q) {
    high[at(r, j + q)] = sums.high[q];
    if (!low.empty()) low[at(r, j + q)] = sums.low[q];
    magnitude[at(r, j + q)] = sums.magnitude[q];
  }
}

template <class T>
void ReferenceProduct<T>::finish_row(const ProductSource& x, Index depth, std::size_t r) {
  const Index i = rows[r];
  std::vector<T> buffer(static_cast<std::size_t>(std::max(depth, shape.n)));
  const T* a = read_block<T>(x.a, i, 1, 0, depth, buffer.data()).data;
  for (Index p = 0; p < depth; ++p) include(row_norms[r], a[p]);
  row_norms[r].two = row_norms[r].squares.value();
  const T* c = beta != 0 ? read_block<T>(x.c_before, i, 1, 0, shape.n, buffer.data()).data : nullptr;
  const T factor = static_cast<T>(alpha), factor_of_old = static_cast<T>(beta);
  for (Index j = 0; j < shape.n; ++j) {
    const std::size_t e = at(r, j);
    const VectorNorms& column = col_norms[static_cast<std::size_t>(j)];
    const bool finite = row_norms[r].finite && column.finite;
    if (!finite && !std::isfinite(row_norms[r].largest * column.largest * static_cast<double>(shape.k)))
      high[e] = sum_of_exceptions<T>(x, depth, i, j);

    T result = factor * canonical[e];
    if (beta != 0) {
      result = std::fma(factor_of_old, c[j], result);
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
void ReferenceProduct<T>::round_results(DType type) {
  for (std::size_t e = 0; e < gold.size(); ++e) {
    gold[e] = rounded(high[e], type);
    canonical[e] = rounded(static_cast<float>(canonical[e]), type);
  }
}

template <class T>
bool ReferenceProduct<T>::exceptional(std::size_t r, Index j) const {
  if (!special.empty() && special[at(r, j)] != 0) return true;
  if (!scalars_finite || !row_norms[r].finite || !col_norms[static_cast<std::size_t>(j)].finite) return true;
  return !old.empty() && std::isnan(old[at(r, j)]);
}

template struct ReferenceProduct<float>;
template struct ReferenceProduct<double>;

} // namespace tessera::compare
