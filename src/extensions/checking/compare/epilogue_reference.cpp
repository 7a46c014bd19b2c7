#include "epilogue_reference.hpp"

#include <cmath>

#include "core/base/thread_team.hpp"
#include "narrow.hpp"

namespace tessera::compare {
namespace {

constexpr double steepest_gelu = 1.13;
constexpr double roundings_of_gelu = 8;

/// Adds a number, with the rounding of the computed sum.
void add(double value, double u, ExactElement& x) {
  if (std::isfinite(value) && std::isfinite(x.high)) {
    const Pair sum = add_product({x.high, x.low}, 1.0, value);
    x.high = sum.high;
    x.low = sum.low;
  } else {
    x.high += value;
    x.low = 0;
  }
  x.special = x.special || !std::isfinite(value);
  x.added += std::isfinite(value) ? std::abs(value) : 0;
  x.bound += u * (std::abs(x.high) + x.bound);
}

/// x·Φ(x) in its tanh form, in more digits than double has where the machine has such a type.
long double gelu(long double x) {
  constexpr long double c = 0.79788456080286535587989211986876L; // √(2/π)
  const long double z = c * (x + 0.044715L * x * x * x);
  return x / (1 + std::exp(-2 * z));
}

void activate(Activation activation, double u, ExactElement& x) {
  if (activation == Activation::Relu) {
    if (x.high + x.low < 0) x.high = x.low = 0;
  } else if (activation == Activation::Gelu) {
    x.bound = steepest_gelu * x.bound + roundings_of_gelu * u * std::abs(x.high);
    const long double value = gelu(static_cast<long double>(x.high) + static_cast<long double>(x.low));
    x.high = static_cast<double>(value);
    x.low = std::isfinite(x.high) ? static_cast<double>(value - static_cast<long double>(x.high)) : 0;
  }
}

} // namespace

void apply_epilogue(const RowProblem& problem, Index i, Index j, double u, ExactElement& x) {
  if (problem.bias) {
    const bool by_row = problem.bias_per == BiasPer::Row;
    add(element_at<double>(*problem.bias, by_row ? i : 0, by_row ? 0 : j), u, x);
  }
  activate(problem.activation, u, x);
  if (problem.residual) add(element_at<double>(*problem.residual, i, j), u, x);
}

template <class T>
void apply_epilogue(const RowProblem& problem, const BoundCoefficients& bound, ReferenceProduct<T>& product,
                    int threads) {
  const double u = sizeof(T) == sizeof(double) ? 0x1p-53 : 0x1p-24;
  const bool narrow = is_16_bit(problem.result);
  const NarrowRounding last = narrow ? narrow_rounding(problem.result) : NarrowRounding{};
  product.limit.resize(product.high.size());
  product.special.resize(product.high.size());
  const bool had_old = !product.old.empty();
  std::vector<double> sizes(product.high.size()); // |beta||C₀| + |bias| + |residual|
  detail::parallel_for(product.rows.size(), threads, [&](std::size_t r) {
    for (Index j = 0; j < product.shape.n; ++j) {
      const std::size_t e = product.at(r, j);
      ExactElement x;
      x.high = product.high[e];
      x.low = product.low.empty() ? 0 : product.low[e];
      x.bound = element_bound(product, bound, r, j, std::abs(x.high));
      apply_epilogue(problem, product.rows[r], j, u, x);
      if (narrow) x.bound += last.relative * (std::abs(x.high) + x.bound) + last.absolute;
      x.bound += 4 * 0x1p-53 * (product.low.empty() ? std::abs(x.high) : 0); // this function's own roundings
      product.high[e] = product.low.empty() ? x.high + x.low : x.high;
      if (!product.low.empty()) product.low[e] = x.low;
      product.gold[e] =
          narrow ? static_cast<T>(rounded(x.high + x.low, problem.result)) : static_cast<T>(x.high + x.low);
      product.canonical[e] = product.gold[e];
      product.limit[e] = x.bound;
      product.special[e] = x.special ? 1 : 0;
      sizes[e] = (had_old ? product.old[e] : 0) + x.added;
    }
  });
  product.old = std::move(sizes);
}

template void apply_epilogue(const RowProblem&, const BoundCoefficients&, ReferenceProduct<float>&, int);
template void apply_epilogue(const RowProblem&, const BoundCoefficients&, ReferenceProduct<double>&, int);

} // namespace tessera::compare
