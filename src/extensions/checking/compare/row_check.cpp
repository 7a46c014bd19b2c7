#include "row_check.hpp"

#include <algorithm>
#include <limits>

#include <tessera/random.hpp>

#include "core/base/thread_team.hpp"

namespace tessera::compare {
namespace {

constexpr double unbounded = std::numeric_limits<double>::infinity();

/// The errors of short sums, relative to the sums of magnitudes: of one matrix times vectors, and of A·(B·x), where B·x
/// is rounded to T between the two. Each has room for the products' roundings and for (1 + x)² − 1 − 2x.
template <class T>
constexpr double unit = sizeof(T) == sizeof(double) ? 0x1p-53 : 0x1p-24;
double error_of_one(double u) { return gamma(short_chain + 4, u); }
double error_of_two(double u) { return gamma(2 * short_chain + 12, u); }

/// Sums of this size and more may overflow in chains of T.
template <class T>
constexpr double too_large = sizeof(T) == sizeof(double) ? 0x1p1016 : 0x1p120;

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

/// Returns x times the vectors, and the sizes of its rows where `sizes` is given.
template <class T>
Bundles product_of(const ElementSource& x, const Vectors<T>& v, int threads, const Weights<T>& weights,
                   std::vector<RowSize>* sizes, Sizes which = Sizes::Sums, SampledRows<T>* beside = nullptr) {
  Bundles y(v.bundles, x.rows, sizeof(T) == sizeof(double));
  if (sizes != nullptr) sizes->resize(static_cast<std::size_t>(x.rows));
  const auto keep = [&](Index i, const RowSize& size) {
    if (sizes != nullptr) (*sizes)[static_cast<std::size_t>(i)] = size;
  };
  multiply(x, v, y, threads, sizes != nullptr ? which : Sizes::None, weights, keep, beside);
  return y;
}

} // namespace

bool short_sums_suffice(const BoundCoefficients& bound, DType scalar) {
  const double u = scalar == DType::F64 ? 0x1p-53 : 0x1p-24;
  return 4 * (error_of_one(u) + error_of_two(u)) <= bound.product;
}

template <class T>
RowCheck<T>::RowCheck(const RowProblem& problem, Index bundles, std::uint64_t seed, Sums how, int threads, bool largest,
                      SampledRows<T>* beside)
    : problem_(problem), sizes_(largest ? Sizes::All : Sizes::Sums) {
  if (problem.alpha == 0) problem_.a.cols = problem_.b.rows = 0; // by the contract, A and B are not read
  prepare(seed, bundles, how, threads, beside);
}

template <class T>
void RowCheck<T>::prepare(std::uint64_t seed, Index bundles, Sums how, int threads, SampledRows<T>* beside) {
  x_.emplace(random_signs(bundles, problem_.n(), pairs, seed), how);
  const Weights<T> none;
  std::vector<RowSize> rows_of_b;
  Bundles y = product_of(problem_.b, *x_, threads, none, &rows_of_b, sizes_, beside);
  Weights<T> weights;
  sum_b_ = largest_b_ = 0;
  bool large = false; // NaN is
  for (const RowSize& row : rows_of_b) {
    weights.precise.push_back(row.sum);
    sum_b_ += row.sum;
    largest_b_ = std::max(largest_b_, row.largest);
    large = large || !(row.sum < too_large<T>);
  }
  if (large && how == Sums::Short) return prepare(seed, bundles, Sums::Precise, threads, nullptr);

  const Bundles old = problem_.beta == 0 ? Bundles() : product_of(problem_.c_before, *x_, threads, none, &old_, sizes_);
  std::vector<RowSize> bias_size;
  const bool by_column = problem_.bias_per == BiasPer::Column;
  const Bundles bias = by_column ? product_of(*problem_.bias, *x_, 1, none, &bias_size, sizes_) : Bundles();
  const Bundles residual =
      problem_.residual ? product_of(*problem_.residual, *x_, threads, none, &residual_, sizes_) : Bundles();
  Bundles ones(bundles, 1, false); // Σ_j x_j, exact
  if (problem_.bias_per == BiasPer::Row) {
    const Bundles signs = random_signs(bundles, problem_.n(), false, seed);
    for (Index b = 0; b < bundles; ++b)
      for (Index j = 0; j < problem_.n(); ++j)
        for (std::size_t v = 0; v < static_cast<std::size_t>(lanes); ++v)
          ones.high[ones.at(b, 0) + v] += signs.high[signs.at(b, j) + v];
  }
  if (problem_.bias)
    for (Index i = 0; i < problem_.m(); ++i) {
      const double of_row = by_column ? 0 : std::abs(element_at<double>(*problem_.bias, i, 0));
      bias_.push_back(by_column ? bias_size[0]
                                : RowSize{.sum = static_cast<double>(problem_.n()) * of_row, .largest = of_row});
    }

  const Vectors<T> between(std::move(y), how);
  if (how == Sums::Short) weights.rounded.assign(weights.precise.begin(), weights.precise.end());
  expected_ = product_of(problem_.a, between, threads, weights, &a_, sizes_);
  largest_a_ = 0;
  for (const RowSize& row : a_)
    if (row.finite()) largest_a_ = std::max(largest_a_, row.largest);
  detail::parallel_for(static_cast<std::size_t>(problem_.m() + 255) / 256, threads, [&](std::size_t task) {
    const Index first = static_cast<Index>(task) * 256;
    for (Index i = first; i < std::min(first + 256, problem_.m()); ++i) close(i, old, bias, residual, ones);
  });
}

/// Sets expected_i := alpha·expected_i + beta·old_i + bias_i + residual_i.
template <class T>
void RowCheck<T>::close(Index i, const Bundles& old, const Bundles& bias, const Bundles& residual,
                        const Bundles& ones) {
  const double row_bias = problem_.bias_per == BiasPer::Row ? element_at<double>(*problem_.bias, i, 0) : 0;
  for (Index b = 0; b < expected_.bundles; ++b)
    for (std::size_t v = 0; v < static_cast<std::size_t>(lanes); ++v) {
      const std::size_t e = expected_.at(b, i) + v;
      Pair sum = add_product({0, pairs ? problem_.alpha * expected_.low[e] : 0}, problem_.alpha, expected_.high[e]);
      const auto add = [&](double factor, const Bundles& x, Index row) {
        const std::size_t at = x.at(b, row) + v;
        sum = add_product(sum, factor, x.high[at]);
        if (!x.low.empty()) sum.low = std::fma(factor, x.low[at], sum.low);
      };
      if (problem_.beta != 0) add(problem_.beta, old, i);
      if (problem_.bias_per == BiasPer::Column) add(1, bias, 0);
      if (problem_.bias_per == BiasPer::Row) add(row_bias, ones, 0);
      if (problem_.residual) add(1, residual, i);
      expected_.high[e] = pairs ? sum.high : sum.high + sum.low;
      if (pairs) expected_.low[e] = sum.low;
    }
}

template <class T>
double RowCheck<T>::limit(Index i, const BoundCoefficients& bound) const {
  const auto at = static_cast<std::size_t>(i);
  const bool is_short = sums() == Sums::Short;
  const double columns = static_cast<double>(problem_.n());
  const double depth = static_cast<double>(problem_.k());
  const double size = std::abs(problem_.alpha);
  // The error of this check itself, relative to the sums of magnitudes; see docs/error_bounds.md, 6.
  const double steps = columns + depth + 8;
  double evaluation = 1 + 2 * gamma(steps, 0x1p-53);
  double own = pairs ? gamma(2 * steps, 0x1p-53) * gamma(2 * steps, 0x1p-53) : gamma(steps, 0x1p-53);
  double own_of_c = own;
  if (is_short) {
    evaluation *= 1 + 2 * gamma(3 * short_chain, unit<T>);
    own_of_c = own + error_of_one(unit<T>);
    own += error_of_two(unit<T>);
  }
  RowSize row = a_[at];
  if (is_short) row.weighted += depth * static_cast<double>(std::numeric_limits<T>::denorm_min());
  const double terms = size * row.weighted * evaluation;
  const double old = problem_.beta == 0 ? 0 : std::abs(problem_.beta) * old_[at].sum * evaluation;
  const double bias = bias_.empty() ? 0 : bias_[at].sum * evaluation;
  const double residual = residual_.empty() ? 0 : residual_[at].sum * evaluation;
  const double added = old + bias + residual;
  // No element's sum of magnitudes is larger than the row's, nor than Σ|a_i|·max|B|. Sums of floating-point numbers are
  // added along the row here, so that the row's must not overflow.
  const double most = bound.exact ? std::min(row.weighted, row.sum * largest_b_) : row.weighted;
  const double way = std::max(1.0, size) * most * evaluation + added;
  const double mixed = bound.norms > 0 ? bound.norms * size * largest_a_ * largest_b_ : 0;
  if (!(way * (1 + bound.product) + mixed < bound.largest)) return -1; // true as well where an operand is NaN or Inf
  if (!row.finite() || !(std::max(row.largest, largest_b_) < bound.largest_input)) return -1;
  if (is_short && !(std::max(1.0, size) * row.weighted + added < too_large<T>)) return -1;

  double limit = (bound.product + bound.result) * terms + (bound.old + bound.result) * old + columns * bound.constant +
                 columns * mixed;
  if (bound.input > 0) limit += bound.input * size * (columns * row.sum + sum_b_) * evaluation;
  if (bound.scaled > 0)
    limit += bound.scaled * size * (columns * largest_b_ * row.sum + row.largest * sum_b_) * evaluation;
  if (problem_.has_epilogue()) { // one rounding for each addition, and the last one to the result's type
    const double before = terms + old;
    if (problem_.bias) limit += unit<T> * (before + bias + limit);
    if (problem_.residual) limit += unit<T> * (before + added + limit);
    if (is_16_bit(problem_.result)) {
      const NarrowRounding narrow = narrow_rounding(problem_.result);
      limit += narrow.relative * (before + added + limit) + columns * narrow.absolute;
    }
  }
  const double underflow = pairs || is_short ? static_cast<double>(std::numeric_limits<T>::denorm_min()) * (1 + size) *
                                                   (steps + columns * row.sum)
                                             : 0;
  return limit + own * (terms + added) + own_of_c * (terms + added + limit) + underflow;
}

/// May an element of a row whose sums do not overflow become infinite when it is rounded to 16 bits?
template <class T>
bool RowCheck<T>::results_may_overflow(Index i, const BoundCoefficients& bound) const {
  if (!is_16_bit(problem_.result)) return false;
  const auto at = static_cast<std::size_t>(i);
  const RowSize& row = a_[at];
  const bool all = sizes_ == Sizes::All;
  const auto most_of = [&](const std::vector<RowSize>& sizes) {
    return sizes.empty() ? 0 : all ? sizes[at].largest : sizes[at].sum;
  };
  const double size = std::abs(problem_.alpha);
  const double terms = size * (all ? std::min(row.weighted, row.sum * largest_b_) : row.weighted);
  const double added = std::abs(problem_.beta) * most_of(old_) + most_of(bias_) + most_of(residual_);
  // The bound of an element, with the sum of all of B in place of a column's. The factors cover the rounding of the
  // sizes, which are sums in double, or in short chains of T.
  double most = (1 + bound.product + bound.result) * terms + (1 + bound.old + bound.result) * added + bound.constant;
  if (bound.norms > 0) most += bound.norms * size * largest_a_ * largest_b_;
  if (bound.input > 0) most += bound.input * size * (row.sum + sum_b_);
  if (bound.scaled > 0) most += bound.scaled * size * (largest_b_ * row.sum + row.largest * sum_b_);
  constexpr double room = 1 + 0x1p-10;
  return !(most * room < narrow_rounding(problem_.result).largest);
}

template <class T>
std::optional<KnownSizes> RowCheck<T>::known_sizes() const {
  const bool finite =
      sum_b_ < unbounded && std::all_of(a_.begin(), a_.end(), [](const RowSize& row) { return row.finite(); });
  if (!finite) return std::nullopt;
  return KnownSizes{largest_a_, largest_b_};
}

template <class T>
double RowCheck<T>::worst_of_row(const Bundles& sums, Index i, double limit) const {
  double worst = 0;
  for (Index b = 0; b < sums.bundles; ++b)
    for (std::size_t v = 0; v < static_cast<std::size_t>(lanes); ++v) {
      const std::size_t e = sums.at(b, i) + v;
      double off = sums.high[e] - expected_.high[e];
      if (pairs) off += sums.low[e] - expected_.low[e];
      off = std::abs(off);
      const double ratio = off == 0 ? 0 : off / limit;
      worst = ratio <= worst ? worst : std::isnan(ratio) ? unbounded : ratio;
    }
  return worst;
}

template <class T>
bool RowCheck<T>::tells_zeros(const BoundCoefficients& bound) const {
  if (problem_.activation != Activation::None) return false;
  for (Index i = 0; i < problem_.m(); ++i) {
    const double limit_of_row = limit(i, bound);
    if (limit_of_row < 0) continue;
    for (Index b = 0; b < expected_.bundles; ++b)
      for (std::size_t v = 0; v < static_cast<std::size_t>(lanes); ++v)
        if (std::abs(expected_.high[expected_.at(b, i) + v]) > limit_of_row) return true;
  }
  return false;
}

template <class T>
bool RowCheck<T>::expects_any() const {
  return std::any_of(expected_.high.begin(), expected_.high.end(), [](double x) { return x != 0; });
}

template <class T>
std::vector<double> RowCheck<T>::check(const ElementSource& c, const BoundCoefficients& bound, int threads) const {
  Bundles sums(x_->bundles, problem_.m(), pairs);
  std::vector<double> over(static_cast<std::size_t>(problem_.m()));
  const auto may_be_cut = [&](Index i) { // ReLU gives 0 there, so that the element is the residual itself
    for (Index j = 0; j < problem_.n(); ++j) {
      const T computed = element_at<T>(c, i, j);
      if (computed == (problem_.residual ? element_at<T>(*problem_.residual, i, j) : T{0})) return true;
    }
    return false;
  };
  const auto has_infinities_alone = [&](Index i) { // NaN is never right in a row of finite operands
    bool found = false;
    for (Index j = 0; j < problem_.n(); ++j) {
      const T computed = element_at<T>(c, i, j);
      if (std::isnan(computed)) return false;
      found = found || std::isinf(computed);
    }
    return found;
  };
  multiply(c, *x_, sums, threads, Sizes::None, Weights<T>{}, [&](Index i, const RowSize&) {
    const double limit_of_row = limit(i, bound);
    const bool judged = limit_of_row >= 0 && !(problem_.activation == Activation::Relu && may_be_cut(i));
    double& worst = over[static_cast<std::size_t>(i)];
    worst = judged ? worst_of_row(sums, i, limit_of_row) : -1;
    if (std::isinf(worst) && results_may_overflow(i, bound) && has_infinities_alone(i)) worst = -1;
  });
  return over;
}

template class RowCheck<float>;
template class RowCheck<double>;

} // namespace tessera::compare
