/// Checks everything that can be wrong with a product's arguments, before a kernel reads them.

#include <cstdint>
#include <limits>
#include <utility>

#include <tessera/complex.hpp>
#include <tessera/detail/column_major.hpp>
#include <tessera/detail/type_words.hpp>
#include <tessera/executor.hpp>

#include "check_gemm.hpp"
#include "core/matrix/operand.hpp"

namespace tessera {
namespace {

struct NamedRows : StoredRows {
  const char* name;
  bool by_columns = false; ///< the caller's matrix is the transpose: its columns are these rows

  const char* lines() const { return by_columns ? "rows" : "columns"; } ///< what a row here has, in the caller's words
  std::string shape() const { return by_columns ? detail::shape(cols, rows) : detail::shape(rows, cols); }
};

Status refusal(std::string why) { return Status::failure(StatusCode::InvalidArgument, std::move(why)); }

std::string quantity(const char* name, Index value) { return std::string(name) + " = " + std::to_string(value); }

/// True for an operand of moderate size that is surely right. The test has no division, because a small product takes
/// less time than the divisions of check_operand().
bool is_plain(const NamedRows& x) {
  constexpr Index moderate = Index{1} << 29; // two of them and eight bytes stay within the address space
  return x.data != nullptr && x.ld >= x.cols && x.ld >= 1 && x.ld < moderate && x.rows < moderate;
}

Status check_operand(const NamedRows& x) {
  const auto ld_name = [&] { return std::string("ld") + x.name; };
  if (x.ld < x.cols || x.ld < 1)
    return refusal("gemm: " + ld_name() + " = " + std::to_string(x.ld) + " is less than the " + std::to_string(x.cols) +
                   " " + x.lines() + " that " + x.name + " has as it is stored; pass at least " +
                   std::to_string(x.cols > 1 ? x.cols : 1));
  const Index largest = std::numeric_limits<std::ptrdiff_t>::max() / static_cast<Index>(x.element);
  if (x.rows > 0 && x.ld > largest / x.rows)
    return refusal("gemm: " + std::string(x.name) + " is too large: " + std::to_string(x.rows) +
                   (x.by_columns ? " columns of " : " rows of ") + ld_name() + " = " + std::to_string(x.ld) +
                   " elements of " + std::to_string(x.element) + " bytes overflow the address space");
  if (x.data == nullptr && x.rows > 0 && x.cols > 0)
    return refusal("gemm: " + std::string(x.name) + " is null, but has " + x.shape() + " elements");
  return {};
}

Status check_types(const GemmCall& call) {
  for (const DType type : {call.type, call.result})
    if (!is_element_type(type))
      return refusal("gemm: unsupported element type " +
                     (is_known_type(type) ? std::string(to_string(type)) : std::to_string(static_cast<int>(type))) +
                     "; use " + detail::type_words(element_types, &ElementType::name, "or"));
  const auto word = [](auto value) { return std::string(to_string(value)); };
  if (!is_result_of(call.result, call.type))
    return refusal("gemm: operands of " + word(call.type) + " with a result of " + word(call.result) +
                   "; the result has the operands' type, or is " + detail::other_results());
  const Math unit = element_type(call.type).lossless_math;
  if (is_16_bit(call.type) && call.math != Math::Strict && call.math != unit)
    return Status::failure(StatusCode::Rejected, "gemm: math mode " + word(call.math) + " is not for " +
                                                     word(call.type) + " operands; use strict" +
                                                     (unit == Math::Strict ? "" : " or " + word(unit)));
  return {};
}

/// Checks the epilogue's words and operands. Kernels read these operands while they write C, so none may overlap it.
Status check_epilogue(const GemmCall& call, const NamedRows& c) {
  const Epilogue& epilogue = call.epilogue;
  const auto word = [](auto value) { return std::to_string(static_cast<int>(value)); };
  if (epilogue.bias_per < BiasPer::None || epilogue.bias_per > BiasPer::Column)
    return refusal("gemm: unknown kind of bias " + word(epilogue.bias_per) + "; use None, Row or Column");
  if (epilogue.activation < Activation::None || epilogue.activation > Activation::Gelu)
    return refusal("gemm: unknown activation " + word(epilogue.activation) + "; use None, Relu or Gelu");
  if (epilogue.bias_per != BiasPer::None) {
    if (epilogue.bias_step < 1)
      return refusal("gemm: " + quantity("bias_step", epilogue.bias_step) + " is less than 1, the step of neighbours");
    const Index count = epilogue.bias_per == BiasPer::Row ? call.m : call.n;
    const NamedRows bias{{epilogue.bias, count, 1, epilogue.bias_step, c.element}, "bias"};
    if (Status status = check_operand(bias); !status.ok()) return status;
    if (overlap(bias, c)) return refusal("gemm: c overlaps the epilogue's bias in memory; the bias is read meanwhile");
  }
  if (epilogue.residual != nullptr) {
    const NamedRows residual{
        {epilogue.residual, call.m, call.n, epilogue.ld_residual, c.element}, "residual", c.by_columns};
    if (Status status = check_operand(residual); !status.ok()) return status;
    if (overlap(residual, c))
      return refusal("gemm: c overlaps the epilogue's residual in memory; beta = 1 adds to c itself");
  }
  return {};
}

} // namespace

bool overlap(const StoredRows& x, const StoredRows& y) {
  if (x.rows == 0 || x.cols == 0 || y.rows == 0 || y.cols == 0) return false;
  const auto begin_x = reinterpret_cast<std::uintptr_t>(x.data);
  const auto begin_y = reinterpret_cast<std::uintptr_t>(y.data);
  const auto extent = [&](const StoredRows& o) {
    return static_cast<std::uintptr_t>((o.rows - 1) * o.ld + o.cols) * o.element;
  };
  if (begin_x + extent(x) <= begin_y || begin_y + extent(y) <= begin_x) return false;
  const bool y_first = begin_y < begin_x;
  const std::uintptr_t bytes = y_first ? begin_x - begin_y : begin_y - begin_x;
  if (x.element != y.element || x.ld != y.ld || bytes % x.element != 0) return true;
  // The later rectangle starts `row` rows and `col` columns after the earlier one, columns taken modulo ld.
  const StoredRows& early = y_first ? y : x;
  const StoredRows& late = y_first ? x : y;
  const Index distance = static_cast<Index>(bytes / x.element);
  const Index row = distance / early.ld;
  const Index col = distance % early.ld;
  const bool same_columns = row < early.rows && col < early.cols;
  const bool wraps = row + 1 < early.rows && col + late.cols > early.ld;
  return same_columns || wraps;
}

Status check_shapes(const GemmCall& call, std::size_t element, std::size_t result, bool by_columns) {
  if (call.m < 0 || call.n < 0 || call.k < 0)
    return refusal("gemm: sizes must not be negative: " + quantity("m", by_columns ? call.n : call.m) + ", " +
                   quantity("n", by_columns ? call.m : call.n) + ", " + quantity("k", call.k));
  if (call.threads < 0)
    return refusal("gemm: " + quantity("threads", call.threads) + " is negative; 0 means the default");
  const bool flip_a = call.op_a != Op::None;
  const bool flip_b = call.op_b != Op::None;
  const char* const name_a = by_columns ? "b" : "a";
  const char* const name_b = by_columns ? "a" : "b";
  const NamedRows a{
      {call.a, flip_a ? call.k : call.m, flip_a ? call.m : call.k, call.lda, element}, name_a, by_columns};
  const NamedRows b{
      {call.b, flip_b ? call.n : call.k, flip_b ? call.k : call.n, call.ldb, element}, name_b, by_columns};
  const NamedRows c{{call.c, call.m, call.n, call.ldc, result}, "c", by_columns};
  for (const NamedRows* operand : {&a, &b, &c})
    if (!is_plain(*operand))
      if (Status status = check_operand(*operand); !status.ok()) return status;
  for (const NamedRows* operand : {&a, &b})
    if (overlap(*operand, c))
      return refusal("gemm: c overlaps " + std::string(operand->name) + " in memory (c is " + c.shape() + ", " +
                     operand->name + " is " + operand->shape() + "); the product needs a separate result");
  if (!call.epilogue.empty()) return check_epilogue(call, c);
  return {};
}

namespace {

Status check_real(const GemmCall& call, bool by_columns) {
  if (Status status = check_types(call); !status.ok()) return status;
  for (const Op op : {call.op_a, call.op_b})
    if (op != Op::None && op != Op::Transpose)
      return refusal("gemm: op " + std::to_string(static_cast<int>(op)) +
                     " of a real matrix; use none or transpose, which is a real matrix's conjugate transpose");
  return check_shapes(call, size_of(call.type), size_of(call.result), by_columns);
}

Status check_complex(const ComplexGemmCall& call, bool by_columns) {
  if (call.type != DType::F32 && call.type != DType::F64)
    return refusal("gemm: complex numbers of " + std::string(to_string(call.type)) + " parts; use f32 or f64");
  for (const Op op : {call.op_a, call.op_b})
    if (op != Op::None && op != Op::Transpose && op != Op::ConjugateTranspose)
      return refusal("gemm: unknown op " + std::to_string(static_cast<int>(op)));
  const std::size_t number = 2 * size_of(call.type);
  const GemmCall shapes{{.type = call.type,
                         .math = call.math,
                         .op_a = call.op_a,
                         .op_b = call.op_b,
                         .m = call.m,
                         .n = call.n,
                         .k = call.k,
                         .a = call.a,
                         .lda = call.lda,
                         .b = call.b,
                         .ldb = call.ldb,
                         .beta = 1.0,
                         .c = call.c,
                         .ldc = call.ldc,
                         .threads = call.threads}};
  return check_shapes(shapes, number, number, by_columns);
}

} // namespace

Status check_gemm(const GemmCall& call) { return check_real(call, false); }
Status check_gemm(const ComplexGemmCall& call) { return check_complex(call, false); }

namespace detail {

Status check_column_major(const GemmCall& call) { return check_real(call, true); }
Status check_column_major(const ComplexGemmCall& call) { return check_complex(call, true); }

void check_inner(Index a_rows, Index a_cols, Index b_rows, Index b_cols) {
  if (const std::string why = inner_mismatch(a_rows, a_cols, b_rows, b_cols); !why.empty())
    throw InvalidArgument("gemm: " + why);
}

std::string product_mismatch(const Operand& a, const Operand& b, const Operand& c) {
  std::string why = inner_mismatch(logical_rows(a), logical_cols(a), logical_rows(b), logical_cols(b));
  if (!why.empty()) return why;
  if (logical_rows(c) != logical_rows(a) || logical_cols(c) != logical_cols(b))
    return "c is " + shape(c) + ", but a·b is " + shape(logical_rows(a), logical_cols(b));
  for (const auto& [x, name] : {std::pair{&a, "a"}, std::pair{&b, "b"}})
    if (overlap(*x, c))
      return std::string("c overlaps ") + name + " in memory (c is " + shape(c) + ", " + name + " is " + shape(*x) +
             "); the product needs a separate result";
  return {};
}

BiasPer kind_of_bias(const Operand& bias, const Operand& c) {
  if (logical_rows(bias) == 1 && logical_cols(bias) == c.cols) return BiasPer::Column;
  if (logical_cols(bias) == 1 && logical_rows(bias) == c.rows) return BiasPer::Row;
  throw InvalidArgument("gemm: the bias is " + shape(bias) + "; for a result of " + shape(c) + " it must be " +
                        shape(1, c.cols) + " or " + shape(c.rows, 1));
}

void check_no_backend(const GemmOptions& options) {
  if (options.backend != Backend::Auto)
    throw InvalidArgument("gemm: options.backend is " + std::string(to_string(options.backend)) +
                          ", and the executors say where it runs; leave the backend out");
  check_unverified(options, "a product on a list of executors");
}

void check_unverified(const GemmOptions& options, const char* what) {
  if (options.verify != Verify::None)
    throw InvalidArgument("gemm: options.verify is " + std::string(to_string(options.verify)) + ", but " + what +
                          " cannot verify itself; multiply single products in host memory, or check() the result");
}

void check_epilogue(const EpilogueOperands& epilogue, const Operand& c) {
  const auto check = [&](const char* name, const Operand& x) {
    if (x.storage->type() != c.storage->type())
      throw InvalidArgument(std::string("gemm: the ") + name + " is of " + std::string(to_string(x.storage->type())) +
                            ", but c of " + std::string(to_string(c.storage->type())) + "; convert one of them");
    if (overlap(x, c))
      throw InvalidArgument(std::string("gemm: c overlaps the ") + name +
                            " in memory; beta = 1 adds to c itself, else use a copy");
  };
  if (epilogue.bias) check("bias", *epilogue.bias);
  if (!epilogue.residual) return;
  check("residual", *epilogue.residual);
  if (logical_rows(*epilogue.residual) != logical_rows(c) || logical_cols(*epilogue.residual) != logical_cols(c))
    throw InvalidArgument("gemm: the residual is " + shape(*epilogue.residual) + ", but c is " + shape(c));
}

} // namespace detail
} // namespace tessera
