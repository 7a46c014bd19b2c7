#include "arguments.hpp"

#include <cmath>
#include <limits>

#include <tessera/detail/number_text.hpp>
#include <tessera/detail/type_words.hpp>
#include <tessera/executor.hpp>
#include <tessera/status.hpp>

#include "core/gemm/check_gemm.hpp"

namespace tessera::certificate {
namespace {

/// Returns the facts about a type, which checked_type() knows.
const ElementType& facts_of(CheckedType type) { return element_type(static_cast<DType>(type)); }
bool is_of_matrices(CheckedType type) { return is_element_type(static_cast<DType>(type)); }
/// Is it a type of A and B alone, which is not computed in?
bool is_narrow(CheckedType type) {
  return !is_of_matrices(type) &&
         (facts_of(type).scalar != facts_of(type).type || facts_of(type).result != facts_of(type).type);
}
/// Is it a floating-point type of A and B alone?
bool is_narrow_float(CheckedType type) { return is_narrow(type) && !is_whole_number(static_cast<DType>(type)); }
/// Is it the type of exact results alone?
bool is_whole_result(CheckedType type) { return !is_of_matrices(type) && !is_narrow(type); }

/// Returns the names of the types for which `is_meant` is true: "f32, f64 or f16".
std::string names(bool (*is_meant)(CheckedType), std::string_view last) {
  return detail::type_words(known_types, &ElementType::name, last,
                            [&](const ElementType& type) { return is_meant(static_cast<CheckedType>(type.type)); });
}
bool is_operand(CheckedType type) { return !is_whole_result(type); }
bool is_result(CheckedType type) { return !is_narrow(type); }

std::string name(CheckedType type) { return std::string(checked_type(type).name); }
std::string text(Index number) { return std::to_string(number); }
std::string shape(Index rows, Index cols) { return text(rows) + "×" + text(cols); }
std::string shape(const CheckedMatrix& x) { return shape(x.logical_rows(), x.logical_cols()); }

[[noreturn]] void refuse(const std::string& where, const std::string& why) {
  throw InvalidArgument("check: " + where + why);
}

/// Checks an operand of C's type and of this shape.
void check_like_c(const CheckedMatrix& x, const char* what, Index m, Index n, const Kind& kind,
                  const std::string& where) {
  check_matrix(x, what, where);
  if (x.type != kind.c)
    refuse(where, std::string(what) + " holds " + name(x.type) + ", c holds " + name(kind.c) +
                      "; convert one of them, for nothing is converted unasked");
  if (x.logical_rows() != m || x.logical_cols() != n)
    refuse(where, std::string(what) + " is " + shape(x) + ", but the product is " + shape(m, n));
}

double factor(double value, const char* what, const Kind& kind) {
  if (kind.whole) {
    if (!(std::abs(value) <= 0x1p31) || value != std::nearbyint(value))
      throw InvalidArgument("check: " + std::string(what) + " = " + std::to_string(value) +
                            ", but factors of int32 results are whole numbers up to 2^31");
    return value;
  }
  if (kind.scalar == DType::F64) return value;
  const double rounded = static_cast<float>(value);
  if (std::isfinite(value) && !std::isfinite(rounded))
    throw InvalidArgument("check: " + std::string(what) + " = " + std::to_string(value) + " is too large for f32");
  return rounded;
}

StoredRows stored(const CheckedMatrix& x) { return {x.data, x.rows, x.cols, x.ld, checked_type(x.type).bytes}; }

} // namespace

void check_matrix(const CheckedMatrix& x, const std::string& what, const std::string& where, bool may_be_complex) {
  const auto bytes = static_cast<Index>(checked_type(x.type).bytes) * (x.is_complex ? 2 : 1);
  if (x.is_complex && !may_be_complex)
    refuse(where, what +
                      " holds complex numbers; there is no reference of complex products: check their real and "
                      "imaginary parts");
  if (x.op != Op::None && x.op != Op::Transpose && !(x.is_complex && x.op == Op::ConjugateTranspose))
    refuse(where, what + " has op " + text(static_cast<Index>(x.op)) +
                      "; a real matrix is read as it is or transposed, and a complex one "
                      "conjugated as well");
  if (x.rows < 0 || x.cols < 0) refuse(where, what + " is " + shape(x.rows, x.cols) + "; sizes must not be negative");
  if (x.ld < x.cols || (x.ld < 1 && x.rows > 0 && x.cols > 0))
    refuse(where, what + " has ld = " + text(x.ld) + ", which is less than its " + text(x.cols) +
                      " columns as it is stored; pass at least " + text(std::max<Index>(x.cols, 1)));
  if (x.rows > 0 && x.ld > std::numeric_limits<std::ptrdiff_t>::max() / bytes / x.rows)
    refuse(where, what + " is too large: " + text(x.rows) + " rows of ld = " + text(x.ld) + " elements of " +
                      text(bytes) + " bytes overflow the address space");
  if (x.data == nullptr && x.rows > 0 && x.cols > 0)
    refuse(where, what + " is null, but has " + shape(x.rows, x.cols) + " elements");
}

Kind kind_of(CheckedType a, CheckedType b, CheckedType c, Math math) {
  for (const auto& [type, what] : {std::pair{a, "a"}, std::pair{b, "b"}})
    if (is_whole_result(checked_type(type).type))
      throw InvalidArgument("check: " + std::string(what) + " holds " + name(type) +
                            ", which is a type of C alone; operands are of " + names(is_operand, "or"));
  if (is_narrow(checked_type(c).type))
    throw InvalidArgument("check: c holds " + name(c) + ", which is a type of A and B alone; C is of " +
                          names(is_result, "or"));
  if (static_cast<int>(math) < 0 || math > last_math)
    throw InvalidArgument("check: unknown math mode " + std::to_string(static_cast<int>(math)));
  if (a != b && !(is_narrow_float(a) && is_narrow_float(b)))
    throw InvalidArgument("check: a holds " + name(a) + ", b holds " + name(b) + "; they have one type, or are " +
                          names(is_narrow_float, "and"));
  Kind kind;
  kind.a = a;
  kind.b = b;
  kind.c = c;
  kind.whole = is_whole_result(c);
  const DType type = is_narrow(a) ? DType::F32 : static_cast<DType>(a); // 8-bit elements are computed with as f32
  const bool fits = kind.whole ? facts_of(a).result == facts_of(c).type : is_result_of(static_cast<DType>(c), type);
  if (!fits)
    throw InvalidArgument("check: a and b hold " + name(a) + ", c holds " + name(c) +
                          "; a result has the operands' type, or is f32 for narrower ones, or " +
                          names([](CheckedType x) { return is_of_matrices(x) && facts_of(x).bytes == 2; }, "or") +
                          " for f32 and 8-bit ones, or " + names(is_whole_result, "or") + " for " +
                          names([](CheckedType x) { return is_narrow(x) && !is_narrow_float(x); }, "and"));
  const Math lossless = facts_of(a).lossless_math;
  const bool of_f64 = math == Math::Int8Units;
  const bool of_f32 = !of_f64 && math != Math::Strict && math != Math::Compensated && math != Math::Strassen;
  const bool has_mode = math == Math::Strict || math == lossless || (a == CheckedType::F32 && !of_f64) ||
                        (a == CheckedType::F64 && !of_f32);
  if (!has_mode || (kind.whole && math != Math::Strict))
    throw KernelRejected("check: math mode " + std::string(to_string(math)) + " is not for " + name(a) +
                         " operands; use strict" +
                         (lossless == Math::Strict ? "" : " or " + std::string(to_string(lossless))));
  kind.scalar = kind.whole ? DType::F64 : scalar_of(type);
  kind.result = kind.whole ? DType::F64 : static_cast<DType>(c);
  const bool on_tensor_cores = of_f32 || type != scalar_of(type) || is_narrow(a);
  kind.arithmetic = {kind.whole ? DType::F64 : type, math, Summation::Other,
                     on_tensor_cores ? Accumulator::Truncating : Accumulator::Native};
  return kind;
}

compare::RowProblem problem_of(const CheckedProduct& product, const Kind& kind, const CheckOptions& options,
                               const std::string& where) {
  const auto& [a, b, c_before, bias, residual] = product;
  check_matrix(a, "a", where);
  check_matrix(b, "b", where);
  for (const auto& [x, expected, what] : {std::tuple{&a, kind.a, "a"}, std::tuple{&b, kind.b, "b"}})
    if (x->type != expected)
      refuse(where, std::string(what) + " holds " + name(x->type) + ", but the first product's holds " +
                        name(expected) + "; a batch has one type");
  if (const std::string why = inner_mismatch(a.logical_rows(), a.logical_cols(), b.logical_rows(), b.logical_cols());
      !why.empty())
    refuse(where, why);
  const Index m = a.logical_rows(), n = b.logical_cols();
  if (options.activation < Activation::None || options.activation > Activation::Gelu)
    throw InvalidArgument("check: unknown activation " + std::to_string(static_cast<int>(options.activation)) +
                          "; use None, Relu or Gelu");
  if (kind.whole && (bias || residual || options.activation != Activation::None))
    throw InvalidArgument("check: c holds i32 and has an epilogue; epilogues are of floating-point results");

  compare::RowProblem problem;
  problem.a = compare::ElementSource::of(a);
  problem.b = compare::ElementSource::of(b);
  problem.alpha = factor(options.alpha, "alpha", kind);
  problem.beta = factor(options.beta, "beta", kind);
  problem.activation = options.activation;
  problem.result = kind.result;
  problem.c_before = {kind.c, nullptr, m, n, n, 1};
  if (c_before) {
    check_like_c(*c_before, "c_before", m, n, kind, where);
    problem.c_before = compare::ElementSource::of(*c_before);
  } else if (problem.beta != 0) {
    refuse(where,
           "beta = " + detail::general_text(options.beta, 9) + " needs c_before, C as it was before the product");
  }
  if (bias) {
    check_matrix(*bias, "bias", where);
    if (bias->type != kind.c)
      refuse(where, "bias holds " + name(bias->type) + ", c holds " + name(kind.c) +
                        "; convert one of them, for nothing is converted unasked");
    const bool by_column = bias->logical_rows() == 1 && bias->logical_cols() == n;
    if (!by_column && (bias->logical_cols() != 1 || bias->logical_rows() != m))
      refuse(where, "bias is " + shape(*bias) + "; for a result of " + shape(m, n) + " it must be 1×" + text(n) +
                        " for the columns, or " + text(m) + "×1 for the rows");
    problem.bias = compare::ElementSource::of(*bias);
    problem.bias_per = by_column ? BiasPer::Column : BiasPer::Row;
  }
  if (residual) {
    check_like_c(*residual, "residual", m, n, kind, where);
    problem.residual = compare::ElementSource::of(*residual);
  }
  return problem;
}

void check_result(const CheckedProduct& product, const CheckedMatrix& c, const Kind& kind, const std::string& where) {
  check_like_c(c, "c", product.a.logical_rows(), product.b.logical_cols(), kind, where);
  for (const auto& [x, what] : {std::pair{&product.a, "a"}, std::pair{&product.b, "b"}})
    if (overlap(stored(*x), stored(c)))
      refuse(where, "c (" + shape(c) + ") overlaps " + what + " (" + shape(*x) +
                        ") in memory, so that the operands are not what was multiplied");
  for (const auto& [x, what] : {std::pair{&product.c_before, "c_before"}, std::pair{&product.bias, "bias"},
                                std::pair{&product.residual, "residual"}})
    if (*x && overlap(stored(**x), stored(c)))
      refuse(where, "c (" + shape(c) + ") overlaps " + what + " (" + shape(**x) +
                        ") in memory; keep a copy of what the product read");
}

} // namespace tessera::certificate
