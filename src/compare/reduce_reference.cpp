#include <tessera/compare.hpp>

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

} // namespace

ReduceReference reduce_reference(const ReduceCall& call) {
  const detail::ContractArithmetic contract;
  if (call.rows < 0 || call.cols < 0 || call.ldx < call.cols)
    throw InvalidArgument("reduce_reference: rows = " + std::to_string(call.rows) +
                          ", cols = " + std::to_string(call.cols) + " and ldx = " + std::to_string(call.ldx) +
                          " do not make a matrix");
  return visit(call.type, [&]<class T>(std::type_identity<T>) { return reduce<T>(call); });
}

} // namespace tessera
