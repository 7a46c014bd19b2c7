#include <tessera/freivalds.hpp>

#include <algorithm>
#include <limits>
#include <new>

#include <tessera/backend.hpp>
#include <tessera/detail/floating_point.hpp>
#include <tessera/random.hpp>

#include "bound.hpp"
#include "freivalds_vectors.hpp"
#include "wide_call.hpp"

namespace tessera {

using compare::Bundles;
using compare::lanes;
using compare::StridedMatrix;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Sums over a row, from which bounds are computed.
struct RowSize {
  double sum = 0;      ///< Σ|x|
  double weighted = 0; ///< Σ|x|·weight
  double largest = 0;
  bool finite() const { return sum < infinity; } // NaN is not
};

/// Returns the sums over row i of x. `weights` has one weight for each element, or is null.
template <class T>
RowSize size_of_row(const StridedMatrix<T>& x, Index i, const double* weights) {
  RowSize size;
  for (Index j = 0; j < x.cols; ++j) {
    const double magnitude = std::abs(static_cast<double>(x.data[i * x.row + j * x.col]));
    size.sum += magnitude;
    size.largest = std::max(size.largest, magnitude);
    if (weights != nullptr) size.weighted = std::fma(magnitude, weights[j], size.weighted);
  }
  return size;
}

template <class T>
StridedMatrix<T> strided(const T* data, Index ld, Index rows, Index cols, Op op) {
  return op == Op::None ? StridedMatrix<T>{data, rows, cols, ld, 1} : StridedMatrix<T>{data, rows, cols, 1, ld};
}

/// Returns vectors of random signs: bits of a counter-based generator, in a stream that no fill of matrices uses.
Bundles random_signs(Index bundles, Index length, bool pairs, std::uint64_t seed) {
  constexpr std::uint32_t stream = 0x46726569;
  Bundles x(bundles, length, pairs);
  for (Index b = 0; b < bundles; ++b)
    for (Index j = 0; j < length; ++j) {
      const PhiloxBlock block = philox4x32(seed, static_cast<std::uint64_t>(j), stream + static_cast<std::uint32_t>(b));
      for (Index v = 0; v < lanes; ++v)
        x.high[x.at(b, j) + static_cast<std::size_t>(v)] = (block.word[0] >> v & 1) != 0 ? -1.0 : 1.0;
    }
  return x;
}

} // namespace

struct FreivaldsCheck::State {
  DType type = DType::F32;
  DType result = DType::F32;
  Index m = 0, n = 0, k = 0;
  double alpha = 1, beta = 0;
  Bundles x;                           ///< the vectors
  Bundles expected;                    ///< (alpha·A·B + beta·C₀)·x
  std::vector<RowSize> a, c;           ///< rows of op(A), weighted with the sums of the rows of op(B); rows of C₀
  double sum_b = 0;                    ///< Σ|b|
  double largest_a = 0, largest_b = 0; ///< of A, in the rows without NaN and Inf

  template <class T>
  void prepare(const GemmCall& call, Index bundles, std::uint64_t seed, int threads);
  template <class T>
  FreivaldsResult check(const T* product, Index ldc, const Arithmetic& arithmetic, int threads) const;
  template <class T>
  double judge(const StridedMatrix<T>& product, const Bundles& sums, const compare::BoundCoefficients& bound,
               Index i) const;
  void close(Index i, const Bundles& old);
};

template <class T>
void FreivaldsCheck::State::prepare(const GemmCall& call, Index bundles, std::uint64_t seed, int threads) {
  constexpr bool pairs = sizeof(T) == sizeof(double);
  const GemmOperands<T> operands(call);
  const Index depth = alpha == 0 ? 0 : k; // by the contract, alpha = 0 means that A and B are not read
  const StridedMatrix<T> matrix_a = strided(operands.a, operands.lda, m, depth, operands.op_a);
  const StridedMatrix<T> matrix_b = strided(operands.b, operands.ldb, depth, n, operands.op_b);
  x = random_signs(bundles, n, pairs, seed);

  Bundles y(bundles, depth, pairs);
  std::vector<RowSize> rows_of_b(static_cast<std::size_t>(depth));
  compare::multiply(matrix_b, x, y, threads,
                    [&](Index p) { rows_of_b[static_cast<std::size_t>(p)] = size_of_row(matrix_b, p, nullptr); });
  std::vector<double> weights;
  for (const RowSize& row : rows_of_b) {
    weights.push_back(row.sum);
    sum_b += row.sum;
    largest_b = std::max(largest_b, row.largest);
  }

  Bundles old(bundles, beta == 0 ? 0 : m, pairs);
  if (beta != 0) {
    const StridedMatrix<T> matrix_c = strided(static_cast<const T*>(operands.c), operands.ldc, m, n, Op::None);
    c.resize(static_cast<std::size_t>(m));
    compare::multiply(matrix_c, x, old, threads,
                      [&](Index i) { c[static_cast<std::size_t>(i)] = size_of_row(matrix_c, i, nullptr); });
  }
  expected = Bundles(bundles, m, pairs);
  a.resize(static_cast<std::size_t>(m));
  compare::multiply(matrix_a, y, expected, threads, [&](Index i) {
    a[static_cast<std::size_t>(i)] = size_of_row(matrix_a, i, weights.data());
    close(i, old);
  });
  for (const RowSize& row : a)
    if (row.finite()) largest_a = std::max(largest_a, row.largest);
}

/// Sets expected_i := alpha·expected_i + beta·old_i.
void FreivaldsCheck::State::close(Index i, const Bundles& old) {
  for (Index b = 0; b < expected.bundles; ++b)
    for (Index v = 0; v < lanes; ++v) {
      const std::size_t e = expected.at(b, i) + static_cast<std::size_t>(v);
      const std::size_t o = beta == 0 ? 0 : old.at(b, i) + static_cast<std::size_t>(v);
      if (expected.low.empty()) {
        expected.high[e] *= alpha;
        if (beta != 0) expected.high[e] = std::fma(beta, old.high[o], expected.high[e]);
      } else {
        compare::Pair sum = compare::add_product({0, alpha * expected.low[e]}, alpha, expected.high[e]);
        if (beta != 0) {
          sum = compare::add_product(sum, beta, old.high[o]);
          sum.low = std::fma(beta, old.low[o], sum.low);
        }
        expected.high[e] = sum.high;
        expected.low[e] = sum.low;
      }
    }
}

/// Judges row i of the product: returns its worst error over all vectors in units of the row's bound, or −1 where the
/// bound says nothing. `sums` holds the product times the vectors.
template <class T>
double FreivaldsCheck::State::judge(const StridedMatrix<T>& product, const Bundles& sums,
                                    const compare::BoundCoefficients& bound, Index i) const {
  constexpr bool pairs = sizeof(T) == sizeof(double);
  const double columns = static_cast<double>(n);
  // The error of this check itself, relative to the sums of magnitudes; see compare.hpp, 6.
  const double steps = static_cast<double>(n) + static_cast<double>(k) + 8;
  const double evaluation = 1 + 2 * compare::gamma(steps, 0x1p-53);
  const double own =
      pairs ? compare::gamma(2 * steps, 0x1p-53) * compare::gamma(2 * steps, 0x1p-53) : compare::gamma(steps, 0x1p-53);
  const RowSize& row = a[static_cast<std::size_t>(i)];
  const double terms = std::abs(alpha) * row.weighted * evaluation;
  const double old = beta == 0 ? 0 : std::abs(beta) * c[static_cast<std::size_t>(i)].sum * evaluation;
  const double way = std::max(1.0, std::abs(alpha)) * row.weighted + old;
  const double mixed = bound.norms > 0 ? bound.norms * std::abs(alpha) * largest_a * largest_b : 0;
  if (!(way * (1 + bound.product) + mixed < bound.largest)) return -1; // true as well where an operand is NaN or Inf
  if (!row.finite() || !(std::max(row.largest, largest_b) < bound.largest_input)) return -1;
  const RowSize computed = size_of_row(product, i, nullptr);
  const double underflow = pairs ? 0x1p-1074 * (1 + std::abs(alpha)) * (steps + columns * row.sum) : 0;
  double limit = (bound.product + bound.result + own) * terms + (bound.old + bound.result + own) * old +
                 columns * bound.constant + own * computed.sum + underflow;
  limit += columns * mixed;
  if (bound.input > 0) limit += bound.input * std::abs(alpha) * (columns * row.sum + sum_b) * evaluation;
  if (bound.scaled > 0)
    limit += bound.scaled * std::abs(alpha) * (columns * largest_b * row.sum + row.largest * sum_b) * evaluation;
  double worst = computed.finite() ? 0 : infinity;
  for (Index b = 0; b < x.bundles; ++b)
    for (Index v = 0; v < lanes; ++v) {
      const std::size_t e = sums.at(b, i) + static_cast<std::size_t>(v);
      double off = sums.high[e] - expected.high[e];
      if (pairs) off += sums.low[e] - expected.low[e];
      off = std::abs(off);
      const double ratio = off == 0 ? 0 : off / limit;
      worst = ratio <= worst ? worst : std::isnan(ratio) ? infinity : ratio;
    }
  return worst;
}

template <class T>
FreivaldsResult FreivaldsCheck::State::check(const T* product, Index ldc, const Arithmetic& arithmetic,
                                             int threads) const {
  const compare::BoundCoefficients bound = compare::bound_coefficients(arithmetic, result, {m, n, k}, alpha, beta);
  const StridedMatrix<T> matrix = strided(product, ldc, m, n, Op::None);
  Bundles sums(x.bundles, m, sizeof(T) == sizeof(double));
  std::vector<double> over(static_cast<std::size_t>(m));
  compare::multiply(matrix, x, sums, threads,
                    [&](Index i) { over[static_cast<std::size_t>(i)] = judge(matrix, sums, bound, i); });

  FreivaldsResult found;
  found.vectors = static_cast<int>(x.bundles * lanes);
  found.rows = m;
  for (Index i = 0; i < m; ++i) {
    const double ratio = over[static_cast<std::size_t>(i)];
    if (ratio < 0) continue;
    ++found.rows_judged;
    if (ratio <= found.max_over_bound) continue;
    found.max_over_bound = ratio;
    found.worst_row = i;
  }
  return found;
}

FreivaldsCheck::FreivaldsCheck(const GemmCall& call, std::uint64_t seed, int vectors, int threads) try {
  const detail::ContractArithmetic contract;
  throw_if_failed(check_gemm(call));
  if (vectors < 1)
    throw InvalidArgument("Freivalds: " + std::to_string(vectors) + " vectors; there must be at least 1");
  if (threads <= 0) threads = default_threads();
  auto state = std::make_unique<State>();
  state->type = call.type;
  state->result = call.result;
  state->m = call.m;
  state->n = call.n;
  state->k = call.k;
  state->alpha = call.alpha;
  state->beta = call.beta;
  const Index bundles = (vectors + lanes - 1) / lanes;
  if (is_16_bit(call.type) || is_16_bit(call.result))
    state->prepare<float>(compare::WideCall(call).call(), bundles, seed, threads);
  else
    visit_scalar(call.type, [&]<class T>(std::type_identity<T>) { state->prepare<T>(call, bundles, seed, threads); });
  state_ = std::move(state);
} catch (const std::bad_alloc&) {
  throw OutOfMemory("out of host memory for a Freivalds check of a product with m = " + std::to_string(call.m) +
                    ", n = " + std::to_string(call.n) + ", k = " + std::to_string(call.k));
}

FreivaldsCheck::~FreivaldsCheck() = default;
FreivaldsCheck::FreivaldsCheck(FreivaldsCheck&&) noexcept = default;
FreivaldsCheck& FreivaldsCheck::operator=(FreivaldsCheck&&) noexcept = default;

FreivaldsResult FreivaldsCheck::check(const void* c, Index ldc, const Arithmetic& arithmetic, int threads) const {
  const detail::ContractArithmetic contract;
  if (arithmetic.type != state_->type)
    throw InvalidArgument("Freivalds: the product is " + std::string(to_string(state_->type)) + ", the kernel's type " +
                          std::string(to_string(arithmetic.type)));
  if (threads <= 0) threads = default_threads();
  if (is_16_bit(state_->result)) {
    const std::vector<float> wide = compare::widened(c, state_->result, state_->m, state_->n, ldc);
    return state_->check(wide.data(), state_->n, arithmetic, threads);
  }
  return visit_scalar(state_->type, [&]<class T>(std::type_identity<T>) {
    return state_->check(static_cast<const T*>(c), ldc, arithmetic, threads);
  });
}

} // namespace tessera
