/// The certificate of a solution: its arguments and its verdict.

#include <tessera/checking/check_solve.hpp>

#include <cmath>
#include <numbers>
#include <string>
#include <utility>

#include <tessera/backend.hpp>
#include <tessera/backend/out_of_memory.hpp>
#include <tessera/detail/floating_point.hpp>
#include <tessera/detail/number_type.hpp>

#include "extensions/checking/certificate/arguments.hpp"
#include "extensions/checking/compare/bound.hpp"
#include "residual.hpp"

namespace tessera {
namespace {

std::string shape(const CheckedMatrix& x) {
  return std::to_string(x.logical_rows()) + "×" + std::to_string(x.logical_cols());
}

void check_arguments(const CheckedMatrix& a, const CheckedMatrix& x, const CheckedMatrix& b,
                     const SolveCheckOptions& options) {
  for (const auto& [matrix, name] : {std::pair{&a, "a"}, std::pair{&x, "x"}, std::pair{&b, "b"}}) {
    certificate::check_matrix(*matrix, name, "system: ", true);
    if (matrix->is_complex && !detail::has_complex(static_cast<DType>(matrix->type)))
      throw InvalidArgument("check_solve: " + std::string(name) + " has complex numbers with parts of " +
                            std::string(checked_type(matrix->type).name) + "; parts are of f32 or f64");
  }
  if (a.logical_rows() != a.logical_cols())
    throw InvalidArgument("check_solve: a is " + shape(a) + ", and must be square");
  for (const CheckedMatrix& one : {x, b})
    if (one.logical_rows() != a.logical_rows() || one.logical_cols() != x.logical_cols())
      throw InvalidArgument("check_solve: a is " + shape(a) + ", x is " + shape(x) + " and b is " + shape(b) +
                            "; x and b must have a's rows and one number of columns");
  if (!(options.limit >= 0) || std::isinf(options.limit))
    throw InvalidArgument("check_solve: limit = " + std::to_string(options.limit) +
                          "; pass a finite number above 0, or 0 for the one by default");
  if (options.nearness != Nearness::Elements && options.nearness != Nearness::Norm)
    throw InvalidArgument("check_solve: nearness = " + std::to_string(static_cast<int>(options.nearness)) +
                          " names none; use Nearness::Elements or Nearness::Norm");
}

/// Whole numbers are compared with what double can hold.
double default_limit(const solution::System& system, CheckedType x) {
  constexpr double factor = 3, few = 10, of_complex = 2 * std::numbers::sqrt2;
  const auto type = static_cast<DType>(x);
  return factor * (static_cast<double>(system.n()) + few) *
         compare::unit_roundoff(is_whole_number(type) ? DType::F64 : type) * (system.is_complex() ? of_complex : 1);
}

Verdict verdict_of(const SolveCertificate& x, const solution::Residuals& all) {
  const bool by_norm = x.nearness == Nearness::Norm;
  const Enclosure& chosen = by_norm ? x.by_norm : x.by_elements;
  if (chosen.least > x.limit) return Verdict::Wrong;
  const bool is_known = x.unjudged == 0 && (!by_norm || all.norm_known);
  return is_known && chosen.most <= x.limit ? Verdict::Right : Verdict::Unknown;
}

} // namespace

SolveCertificate check_solve(const CheckedMatrix& a, const CheckedMatrix& x, const CheckedMatrix& b,
                             const SolveCheckOptions& options) try {
  const detail::ContractArithmetic contract;
  check_arguments(a, x, b, options);
  const solution::System system{solution::Operand(a), solution::Operand(x), solution::Operand(b)};
  SolveCertificate answer{.nearness = options.nearness,
                          .type_x = x.type,
                          .x_is_complex = x.is_complex,
                          .n = a.logical_rows(),
                          .count = x.logical_cols(),
                          .limit = options.limit > 0 ? options.limit : default_limit(system, x.type)};
  solution::Residuals all = solution::residuals_of(system, options.threads > 0 ? options.threads : default_threads());
  answer.by_elements = all.ratio;
  answer.columns = std::move(all.by_column);
  answer.by_norm = all.norm_ratio;
  answer.row = all.worst.row;
  answer.col = all.worst.col;
  answer.residual = all.worst.value;
  answer.scale = all.worst.scale;
  answer.unjudged = all.unjudged;
  answer.verdict = verdict_of(answer, all);
  return answer;
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

} // namespace tessera
