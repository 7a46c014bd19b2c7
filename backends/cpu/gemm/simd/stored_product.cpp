#include "stored_product.hpp"

#include <limits>

#include "cpu/gemm/common/blocked.hpp"

namespace tessera::cpu {
namespace {

/// Products of fewer multiply-adds of real numbers are faster where operands are read in place, or are written out
/// first: where that is little work, and where it is much. Measured, see docs/lab/level3.md.
constexpr double least_work = 80.0 * 80.0 * 80.0, least_work_of_parts = 32.0 * 32.0 * 32.0;

/// Returns an operand as it is packed: `lines` rows of A, or `lines` columns of B.
template <class T>
Lines<T> lines_of(const StoredOperand& x, bool is_b, Index lines, bool is_complex) {
  const bool is_whole = x.part == MatrixPart::Whole, is_lower = x.part == MatrixPart::Lower;
  const bool is_triangular = x.kind == TriangleKind::Triangular, is_hermitian = x.kind == TriangleKind::Hermitian;
  const bool is_symmetric = !is_whole && !is_triangular;
  // Where k is below a line's number, a symmetric lower triangle has the number in the row of the line.
  const bool along_k = is_symmetric ? is_lower : x.is_transposed == is_b;
  const bool is_conjugate = is_symmetric ? is_hermitian && along_k == is_b : x.is_conjugate;
  const bool up_to_row = is_lower != x.is_transposed; // the operand itself is lower
  return {.data = static_cast<const T*>(x.data),
          .count = lines,
          .line_step = along_k ? x.ld : 1,
          .k_step = along_k ? 1 : x.ld,
          .numbers = is_complex ? Numbers::Pairs : Numbers::Real,
          .is_conjugate = is_complex && is_conjugate,
          .shape = is_whole            ? Shape::Whole
                   : is_symmetric      ? Shape::Symmetric
                   : up_to_row != is_b ? Shape::UpToLine
                                       : Shape::FromLine,
          .is_hermitian = is_symmetric && is_complex && is_hermitian,
          .has_unit_diagonal = x.has_unit_diagonal};
}

template <class T>
Status run(CpuExecutor& cpu, const StoredProductCall& call) noexcept {
  const Index parts = call.is_complex ? 2 : 1;
  const BlockedCall<T> blocked{.m = call.m,
                               .n = parts * call.n,
                               .k = parts * call.k,
                               .a = lines_of<T>(call.a, false, call.m, call.is_complex),
                               .b = lines_of<T>(call.b, true, call.n, call.is_complex),
                               .alpha = static_cast<T>(call.alpha.real()),
                               .beta = static_cast<T>(call.beta.real()),
                               .c = static_cast<T*>(call.c),
                               .ldc = parts * call.ldc,
                               .threads = call.threads,
                               .alpha_imaginary = static_cast<T>(call.alpha.imag()),
                               .beta_imaginary = static_cast<T>(call.beta.imag()),
                               .part = call.part,
                               .has_real_diagonal = call.is_complex && call.has_real_diagonal};
  const MicroKernel<T>& kernel = micro_kernel<T>(cpu.isa());
  return blocked_product(cpu, blocked, call.is_complex ? *kernel.of_complex : kernel);
}

} // namespace

bool takes_stored_product(const StoredProductCall& call, Isa isa) {
  if (call.is_complex && micro_kernel<float>(isa).of_complex == nullptr) return false;
  const double work = static_cast<double>(call.m) * static_cast<double>(call.n) * static_cast<double>(call.k);
  const bool has_part = call.a.part != MatrixPart::Whole || call.b.part != MatrixPart::Whole;
  const bool saves_much = call.part != MatrixPart::Whole || (call.is_complex && has_part);
  return (call.is_complex ? 4 * work : work) >= (saves_much ? least_work_of_parts : least_work);
}

Status stored_product(CpuExecutor& cpu, const StoredProductCall& call) noexcept {
  return call.type == DType::F32 ? run<float>(cpu, call) : run<double>(cpu, call);
}

} // namespace tessera::cpu
