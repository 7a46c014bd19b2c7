#include "row_sums.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <mutex>
#include <new>

#include <tessera/backend/out_of_memory.hpp>
#include <tessera/random.hpp>
#include <tessera/status.hpp>

#include "extensions/checking/compare/row_check.hpp"

namespace tessera::verify {

using compare::ElementSource;
using compare::RowSize;
using compare::short_chain;

namespace {

/// Rows that a thread takes at a time where columns are stored: long enough to read memory in order.
constexpr Index stored_block = 256;
constexpr Index piece = 1024; ///< columns of A that are read together; their part of B·X fits the second cache
/// Columns of a group, at most. Narrow groups have narrow bounds, and each segment of groups costs a pass over A in
/// registers. A segment is a whole number of pieces.
constexpr Index widest_group = 256;
static_assert(widest_group * lanes % group_piece == 0);
/// A weight is ±(1 + t/512) with t below 128: two errors of equal size rarely cancel, and a bound is at most a quarter
/// larger than without weights.
constexpr double largest_weight = 1.25;

template <class T>
constexpr double unit = sizeof(T) == sizeof(double) ? 0x1p-53 : 0x1p-24;
/// Columns of op(B) with such elements are excluded, so that sums of a group do not overflow.
template <class T>
constexpr double excluded_from = sizeof(T) == sizeof(double) ? 0x1p990 : 0x1p100;
/// Sums of products of this size and more may overflow in chains of T.
template <class T>
constexpr double too_large = sizeof(T) == sizeof(double) ? 0x1p1016 : 0x1p120;

ElementSource source(const void* data, DType type, Index ld, Index rows, Index cols, Op op) {
  const bool flipped = op != Op::None;
  return {static_cast<CheckedType>(type), data, rows, cols, flipped ? 1 : ld, flipped ? ld : 1};
}

/// Returns so many zeros. Throws HostMemoryShort.
template <class T>
std::vector<T> sums_memory(std::size_t count) {
  return sized_vector<T>(count, "the sums of a verified product");
}

/// Are the columns of the source columns of T in memory?
template <class T>
bool is_stored_by_columns(const ElementSource& x) {
  return x.row == 1 && x.col != 1 && x.type == static_cast<CheckedType>(dtype_of<T>);
}

/// Copies columns that are stored one after another, `ld` elements apart, to rows of a buffer, with a gap between them.
template <class T>
compare::Block<T> turned(const T* columns, Index ld, Index rows, Index cols, T* buffer, Index gap) {
  constexpr Index tile = 16; // stored columns whose elements stay in the first cache
  const Index to = cols + gap;
  for (Index j = 0; j < cols; j += tile)
    for (Index r = 0; r < rows; ++r)
      for (Index c = j; c < std::min(j + tile, cols); ++c) buffer[r * to + c] = columns[c * ld + r];
  return {buffer, to};
}

} // namespace

/// Calls body(first, rows) for blocks of rows on the executor's threads.
template <class T>
template <class Body>
void RowSums<T>::for_blocks(Index rows, const Body& body, Index rows_together) const {
  struct Context {
    const Body& body;
    Index rows, together;
    std::atomic<bool> lacked_memory = false;
  } context{body, rows, rows_together};
  const RangeBody run = [](const void* data, Index begin, Index end) noexcept {
    // The loop's interface hands its context on as constant.
    auto& known = *const_cast<Context*>(static_cast<const Context*>(data));
    try {
      for (Index block = begin; block < end; ++block)
        known.body(block * known.together, std::min(known.together, known.rows - block * known.together));
    } catch (const std::bad_alloc&) {
      known.lacked_memory = true;
    }
  };
  throw_if_failed(executor_.run_range(executor_.default_queue(), {.count = (rows + rows_together - 1) / rows_together,
                                                                  .body = run,
                                                                  .context = &context,
                                                                  .threads = call_.threads}));
  if (context.lacked_memory) throw std::bad_alloc();
}

/// Sums the groups of some rows, and calls take(row, sums, largest size) for each of them.
template <class T>
template <class Take>
void RowSums<T>::sum_groups(const ElementSource& x, Index first, Index rows, const Take& take) const {
  const auto row_of = [](Index r, Index ld) { return static_cast<std::size_t>(r * ld); };
  std::vector<T> sums(row_of(rows, bundles_ * lanes)), sizes(sums.size());
  const auto add = [&](Index r, Index j, Index cols, const T* from) {
    const std::size_t segment = row_of(r, bundles_ * lanes) + row_of(j / (width_ * lanes), lanes);
    add_groups(from, &weights_[static_cast<std::size_t>(j)], cols, &sums[segment], &sizes[segment]);
  };
  const auto for_pieces = [&](const auto& body) {
    for (Index j = 0; j < x.cols; j += group_piece) body(j, std::min(group_piece, x.cols - j));
  };
  if (compare::is_native<T>(x) && excluded_.empty()) { // whole rows are read one after another
    for (Index r = 0; r < rows; ++r)
      for_pieces(
          [&](Index j, Index cols) { add(r, j, cols, static_cast<const T*>(x.data) + (first + r) * x.row + j); });
  } else {
    std::vector<T> buffer(row_of(rows, std::min(group_piece, x.cols)));
    for_pieces([&](Index j, Index cols) {
      const compare::Block<T> block = compare::read_block<T>(x, first, rows, j, cols, buffer.data());
      if (block.data != buffer.data())
        for (Index r = 0; r < rows; ++r) std::copy_n(block.data + r * block.ld, cols, &buffer[row_of(r, cols)]);
      const auto end = std::lower_bound(excluded_.begin(), excluded_.end(), j + cols);
      for (auto column = std::lower_bound(excluded_.begin(), excluded_.end(), j); column != end; ++column)
        for (Index r = 0; r < rows; ++r) buffer[row_of(r, cols) + static_cast<std::size_t>(*column - j)] = 0;
      for (Index r = 0; r < rows; ++r) add(r, j, cols, &buffer[row_of(r, cols)]);
    });
  }
  for (Index r = 0; r < rows; ++r) {
    const std::size_t at_row = row_of(r, bundles_ * lanes);
    T largest = 0; // NaN stays once it is there
    for (std::size_t g = 0; g < row_of(bundles_, lanes); ++g)
      largest = sizes[at_row + g] <= largest || std::isnan(largest) ? largest : sizes[at_row + g];
    take(first + r, &sums[at_row], largest);
  }
}

template <class T>
RowSums<T>::RowSums(Executor& executor, const GemmCall& call, const compare::BoundCoefficients& bound,
                    std::uint64_t seed)
    : executor_(executor),
      call_(call),
      bound_(bound),
      a_(source(call.a, call.type, call.lda, call.m, call.k, call.op_a)),
      b_(source(call.b, call.type, call.ldb, call.k, call.n, call.op_b)),
      c_(source(call.c, call.result, call.ldc, call.m, call.n, Op::None)) {
  if (call.alpha == 0) a_.cols = b_.rows = 0; // by the contract, A and B are not read
  width_ = std::min((call.n + lanes - 1) / lanes, widest_group);
  bundles_ = (call.n + width_ * lanes - 1) / (width_ * lanes);
  is_short_ = compare::short_sums_suffice(bound, scalar_of(call.type));
  choose_weights(seed);
  read_b();
  read_a();
  if (call.beta != 0) read_c();
}

template <class T>
void RowSums<T>::choose_weights(std::uint64_t seed) {
  constexpr std::uint32_t stream = 0x56657269; // no fill of matrices uses it
  weights_ = sums_memory<T>(static_cast<std::size_t>(call_.n));
  for (Index j = 0; j < call_.n; ++j) {
    const std::uint32_t word = philox4x32(seed, static_cast<std::uint64_t>(j), stream).word[0];
    const T size = T{1} + static_cast<T>(word & 127U) / T{512};
    weights_[static_cast<std::size_t>(j)] = (word >> 31) != 0 ? -size : size;
  }
}

template <class T>
void RowSums<T>::find_excluded(const ElementSource& b, Index row, std::vector<char>& found) const {
  for (Index j = 0; j < b.cols; ++j)
    if (!(std::abs(compare::element_at<double>(b, row, j)) < excluded_from<T>)) found[static_cast<std::size_t>(j)] = 1;
}

/// Sums the groups of some rows of op(B), whose columns are stored one after another; takes them as sum_groups() does.
template <class T>
template <class Take>
void RowSums<T>::sum_stored_columns(Index first, Index rows, const Take& take) const {
  const auto count = [](Index elements) { return static_cast<std::size_t>(elements); };
  std::vector<T> sums(count(lanes * rows)), sizes(sums.size()), of_rows(count(rows * bundles_ * lanes));
  std::vector<T> largest(count(rows), 0);
  const Index segment = width_ * lanes;
  for (Index bundle = 0; bundle < bundles_; ++bundle) {
    const Index j = bundle * segment;
    std::fill(sums.begin(), sums.end(), T{0});
    std::fill(sizes.begin(), sizes.end(), T{0});
    add_stored_columns(static_cast<const T*>(b_.data) + j * b_.col + first, b_.col, &weights_[count(j)],
                       std::min(segment, b_.cols - j), rows, sums.data(), sizes.data());
    for (Index g = 0; g < lanes; ++g)
      for (Index r = 0; r < rows; ++r) {
        of_rows[count((r * bundles_ + bundle) * lanes + g)] = sums[count(g * rows + r)];
        T& most = largest[count(r)];
        const T size = sizes[count(g * rows + r)];
        most = size <= most || std::isnan(most) ? most : size;
      }
  }
  for (Index r = 0; r < rows; ++r) take(first + r, &of_rows[count(r * bundles_ * lanes)], largest[count(r)]);
}

template <class T>
void RowSums<T>::read_b() {
  y_ = sums_memory<T>(static_cast<std::size_t>(bundles_ * b_.rows * lanes));
  sizes_of_b_ = sums_memory<T>(static_cast<std::size_t>(b_.rows));
  std::mutex mutex;
  std::vector<char> found(static_cast<std::size_t>(b_.cols), 0);
  std::atomic<bool> large = false;
  const auto read = [&](Index first, Index rows) {
    const auto take = [&](Index p, const T* sums, T size) {
      for (Index g = 0; g < bundles_; ++g) std::copy_n(sums + g * lanes, lanes, &y_[at(g, b_.rows, p)]);
      sizes_of_b_[static_cast<std::size_t>(p)] = size;
      if (static_cast<double>(size) < excluded_from<T> || !excluded_.empty()) return;
      const std::lock_guard lock(mutex);
      find_excluded(b_, p, found);
      large = true;
    };
    if (is_stored_by_columns<T>(b_) && excluded_.empty())
      sum_stored_columns(first, rows, take);
    else
      sum_groups(b_, first, rows, take);
  };
  for_blocks(b_.rows, read, is_stored_by_columns<T>(b_) ? stored_block : block_rows);
  if (large) {
    for (Index j = 0; j < b_.cols; ++j)
      if (found[static_cast<std::size_t>(j)] != 0) excluded_.push_back(j);
    if (!excluded_.empty()) for_blocks(b_.rows, read);
  }
  for (const T size : sizes_of_b_) {
    sum_b_ += static_cast<double>(size);
    largest_b_ = std::max(largest_b_, static_cast<double>(size)); // an element is no larger than its group's sum
  }
  largest_b_ *= 1 + 0x1p-20; // the sums' roundings
  if (is_short_) return;
  y_wide_.assign(y_.begin(), y_.end());
  wide_sizes_.assign(sizes_of_b_.begin(), sizes_of_b_.end());
}

template <class T>
void RowSums<T>::read_a() {
  expected_ = sums_memory<double>(static_cast<std::size_t>(bundles_ * a_.rows * lanes));
  if (pairs) expected_low_ = sums_memory<double>(expected_.size());
  sizes_of_a_ = sums_memory<RowSize>(static_cast<std::size_t>(a_.rows));
  const std::vector<double> no_low(is_short_ || !pairs ? 0 : y_wide_.size());
  for_blocks(a_.rows, [&](Index first, Index rows) {
    constexpr Index gap = 16; // rows of a power of two would share their places in a cache
    std::vector<T> buffer(
        compare::is_native<T>(a_) ? 0 : static_cast<std::size_t>(rows * (std::min(piece, a_.cols) + gap)));
    RowSize* const sizes = &sizes_of_a_[static_cast<std::size_t>(first)];
    for (Index p = 0; p < a_.cols; p += piece) {
      const Index count = std::min(piece, a_.cols - p);
      const compare::Block<T> block =
          is_stored_by_columns<T>(a_)
              ? turned(static_cast<const T*>(a_.data) + p * a_.col + first, a_.col, rows, count, buffer.data(), gap)
              : compare::read_block<T>(a_, first, rows, p, count, buffer.data());
      for (Index g = 0; g < bundles_; ++g) {
        const std::size_t from = at(g, a_.cols, p), to = at(g, a_.rows, first);
        double* const low = pairs ? &expected_low_[to] : nullptr;
        if (is_short_)
          compare::add_short(block.data, block.ld, rows, count, &y_[from], &expected_[to], low);
        else
          compare::add_precise(block.data, block.ld, rows, count, &y_wide_[from], pairs ? &no_low[from] : nullptr,
                               &expected_[to], low);
      }
      const auto column = static_cast<std::size_t>(p);
      if (is_short_)
        compare::add_sizes_short(block.data, block.ld, rows, count, &sizes_of_b_[column], true, sizes);
      else
        compare::add_sizes(block.data, block.ld, rows, count, &wide_sizes_[column], true, sizes);
    }
  });
  for (const RowSize& row : sizes_of_a_)
    if (row.finite()) largest_a_ = std::max(largest_a_, row.largest);
}

template <class T>
void RowSums<T>::read_c() {
  old_ = sums_memory<T>(static_cast<std::size_t>(c_.rows * bundles_ * lanes));
  sizes_of_old_ = sums_memory<T>(static_cast<std::size_t>(c_.rows));
  for_blocks(c_.rows, [&](Index first, Index rows) {
    sum_groups(c_, first, rows, [&](Index i, const T* sums, T size) {
      std::copy_n(sums, bundles_ * lanes, &old_[static_cast<std::size_t>(i * bundles_ * lanes)]);
      sizes_of_old_[static_cast<std::size_t>(i)] = size;
    });
  });
}

/// Returns the most by which the sum of a group of row i may be off; −1 where NaN, Inf or overflow may be in the row.
/// `size` becomes the most that Σ|c·x| of a right row may be. docs/health.md calls the result w.
template <class T>
double RowSums<T>::limit(Index i, double& size) const {
  constexpr double u = unit<T>;
  const auto at_row = static_cast<std::size_t>(i);
  const double depth = static_cast<double>(a_.cols);
  const double columns = static_cast<double>(width_) * largest_weight; // the most that weights of a group add up to
  const double alpha = std::abs(call_.alpha);
  const double group = static_cast<double>(roundings_of_group(width_));
  const double chain = static_cast<double>(short_chain);
  const double steps = depth + 8;
  const double evaluation =
      (1 + 2 * compare::gamma(3 * chain + 2 * group, u)) * (1 + 2 * compare::gamma(steps, 0x1p-53));
  RowSize row = sizes_of_a_[at_row];
  row.weighted += depth * static_cast<double>(std::numeric_limits<T>::denorm_min());
  const double terms = alpha * row.weighted * evaluation;
  const double old =
      call_.beta == 0 ? 0 : std::abs(call_.beta) * static_cast<double>(sizes_of_old_[at_row]) * evaluation;
  const double way = std::max(1.0, alpha) * row.weighted * evaluation + old;
  const double mixed = bound_.norms > 0 ? bound_.norms * alpha * largest_a_ * largest_b_ : 0;
  if (!(way * (1 + bound_.product) + mixed < bound_.largest)) return -1; // true as well where an operand is NaN or Inf
  if (!row.finite() || !(std::max(row.largest, largest_b_) < bound_.largest_input)) return -1;
  if (!(way < too_large<T>)) return -1;
  if (bound_.norms > 0 && !excluded_.empty()) return -1; // an excluded column takes part in the errors of the others

  double limit = (bound_.product + bound_.result) * terms + (bound_.old + bound_.result) * old +
                 columns * (bound_.constant + mixed);
  if (bound_.input > 0) limit += bound_.input * alpha * (columns * row.sum + sum_b_) * evaluation;
  if (bound_.scaled > 0)
    limit += bound_.scaled * alpha * (columns * largest_b_ * row.sum + row.largest * sum_b_) * evaluation;
  size = terms + old + limit;
  // The errors of these sums: B·X and A·(B·X), C·X, C₀·X, and their difference.
  const double flushes = compare::gamma(steps, 0x1p-53) * (pairs ? compare::gamma(steps, 0x1p-53) : 1);
  const double of_a = is_short_ ? compare::gamma(group + chain + 4, u) + flushes
                                : compare::gamma(group, u) + compare::gamma(2 * steps, 0x1p-53) *
                                                                 (pairs ? compare::gamma(2 * steps, 0x1p-53) : 1);
  const double own =
      of_a * terms + compare::gamma(group, u) * (old + size) + compare::gamma(8, 0x1p-53) * (terms + old + size);
  const double underflow = static_cast<double>(std::numeric_limits<T>::denorm_min()) *
                           (2 + alpha + std::abs(call_.beta)) *
                           (steps + columns + static_cast<double>(width_) * row.sum);
  constexpr double room = 1 + 0x1p-40; // for the roundings of this function
  return (limit + own + underflow) * room;
}

template <class T>
void RowSums<T>::check(Index first, Index count, RowState* states) const {
  for_blocks(count, [&](Index block, Index rows) {
    sum_groups(c_, first + block, rows, [&](Index i, const T* sums, T size) {
      RowState& state = states[i - first];
      double most = 0;
      const double may_be_off = limit(i, most);
      if (may_be_off < 0 || !(size < std::numeric_limits<T>::infinity())) {
        state = RowState::Open;
        return;
      }
      state = RowState::Right;
      for (Index g = 0; g < bundles_ * lanes; ++g) {
        const std::size_t e = at(g / lanes, a_.rows, i) + static_cast<std::size_t>(g % lanes);
        double off = call_.alpha * expected_[e] - static_cast<double>(sums[g]);
        if (pairs) off += call_.alpha * expected_low_[e];
        if (call_.beta != 0)
          off += call_.beta * static_cast<double>(old_[static_cast<std::size_t>(i * bundles_ * lanes + g)]);
        if (!(std::abs(off) <= may_be_off)) state = RowState::Off;
      }
    });
  });
}

template class RowSums<float>;
template class RowSums<double>;

} // namespace tessera::verify
