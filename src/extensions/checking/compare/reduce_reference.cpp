#include <tessera/checking/compare.hpp>

#include <cmath>

#include <tessera/detail/floating_point.hpp>
#include <tessera/half.hpp>
#include <tessera/status.hpp>

#include "accumulate.hpp"
#include "bound.hpp"

namespace tessera {
namespace {

template <class T>
ReduceReference reduce(const ReduceCall& call) {
  compare::Pair sum;
  double largest = 0;
  for (Index i = 0; i < call.rows; ++i)
    for (Index j = 0; j < call.cols; ++j) {
      const double x = static_cast<const T*>(call.x)[i * call.ldx + j];
      if (call.op == ReduceOp::MaxAbs)
        largest = std::abs(x) > largest || std::isnan(x) ? std::abs(x) : largest;
      else
        sum = call.op == ReduceOp::SumOfSquares ? compare::add_product(sum, x, x)
                                                : compare::add_product(sum, std::abs(x), 1.0);
    }
  if (call.op == ReduceOp::MaxAbs) return {largest, 0};
  const double value = std::isfinite(sum.high) ? sum.high + sum.low : sum.high;
  // No term is negative, so the sum is Σ|terms|. The product and this reference add one rounding each.
  const double terms = static_cast<double>(call.rows) * static_cast<double>(call.cols) + 2;
  return {value, compare::gamma(terms, 0x1p-53) * value + terms * 0x1p-1074};
}

/// Adds the upper and the lower halves of the squares apart, so that up to 2³² squares fit.
ReduceReference reduce_whole_numbers(const ReduceCall& call) {
  constexpr std::uint64_t half = std::uint64_t{1} << 32;
  if (call.op != ReduceOp::SumOfSquares)
    throw InvalidArgument("reduce_reference: of whole numbers (i32) there is the sum of squares alone");
  std::uint64_t upper = 0;
  std::uint64_t lower = 0;
  for (Index i = 0; i < call.rows; ++i)
    for (Index j = 0; j < call.cols; ++j) {
      const std::int64_t x = static_cast<const std::int32_t*>(call.x)[i * call.ldx + j];
      const auto square = static_cast<std::uint64_t>(x * x);
      upper += square / half;
      lower += square % half;
    }
  upper += lower / half;
  lower %= half;
  const double value = static_cast<double>(upper) * 0x1p32 + static_cast<double>(lower);
  if (upper >= half / 2) return {value, 0, std::nullopt};
  return {value, 0, static_cast<std::int64_t>(upper * half + lower)};
}

} // namespace

ReduceReference reduce_reference(const ReduceCall& call) {
  const detail::ContractArithmetic contract;
  if (call.rows < 0 || call.cols < 0 || call.ldx < call.cols)
    throw InvalidArgument("reduce_reference: rows = " + std::to_string(call.rows) +
                          ", cols = " + std::to_string(call.cols) + " and ldx = " + std::to_string(call.ldx) +
                          " do not make a matrix");
  if (call.type == DType::I32) return reduce_whole_numbers(call);
  return visit(call.type, [&]<class T>(std::type_identity<T>) { return reduce<T>(call); });
}

} // namespace tessera
