#pragma once

/// Products whose operands a backend of the host reads as they are stored: complex numbers, the triangle of a symmetric
/// or Hermitian matrix; and products of which one triangle is computed. Programs call gemm(), symm(), syrk() and their
/// kin, which come here where the backend takes the product, and else write the operands out as matrices for gemm().
/// The bits are the same: docs/contract.md, "Complex products" and "Symmetric and triangular products".
///
/// Source: the packing of BLIS, which copies into one form whatever the operands are (Van Zee and van de Geijn, 2015).

#include <complex>
#include <string_view>

#include <tessera/executor.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

/// A part of a square matrix. The values are part of the plug-in ABI.
enum class MatrixPart : int {
  Whole = 0, ///< all of it
  Lower = 1, ///< the diagonal and what is below it
  Upper = 2, ///< the diagonal and what is above it
};

/// What a stored triangle stands for. The values are part of the plug-in ABI.
enum class TriangleKind : int {
  Symmetric = 0,  ///< the other triangle is the transpose of this one
  Hermitian = 1,  ///< the imaginary parts of the diagonal are taken as +0
  Triangular = 2, ///< numbers outside the triangle are no terms of a sum
};

/// An operand in host memory, row-major; sizes and `ld` count numbers.
struct StoredOperand {
  const void* data = nullptr;                  ///< the first number
  Index ld = 0;                                ///< numbers from one stored row to the next
  bool is_transposed = false;                  ///< the operand is the transpose of what is stored
  bool is_conjugate = false;                   ///< its numbers are the conjugates of the stored ones
  MatrixPart part = MatrixPart::Whole;         ///< what is stored of a square matrix; nothing else is read
  TriangleKind kind = TriangleKind::Symmetric; ///< what a part stands for
  bool has_unit_diagonal = false;              ///< Triangular: the diagonal is ones and not read
};

/// C := alpha · A · B + beta · C, where A is m×k, B k×n, C m×n, in Math::Strict. alpha and k are not 0, and neither are
/// the others. A symmetric or Hermitian operand is neither transposed nor conjugate, and one of the two at most has a
/// part. C overlaps neither A nor B, but may be A or B as a whole, in the same place, where a sum has one segment.
/// Zeros stand for what is outside a Triangular operand where the caller knows that they change no chain of the sums
/// (docs/contract.md, "Zeros that do not show").
struct StoredProductCall {
  DType type = DType::F64;             ///< F32 or F64: numbers, or the parts of complex numbers
  bool is_complex = false;             ///< numbers are complex
  Index m = 0;                         ///< rows of A and C
  Index n = 0;                         ///< columns of B and C
  Index k = 0;                         ///< columns of A and rows of B
  std::complex<double> alpha = 1.0;    ///< factor of the product
  StoredOperand a = {};                ///< the left operand
  StoredOperand b = {};                ///< the right operand
  std::complex<double> beta = 0.0;     ///< factor of C as it was; 0: C is not read
  void* c = nullptr;                   ///< the first number of C
  Index ldc = 0;                       ///< numbers from one row of C to the next
  MatrixPart part = MatrixPart::Whole; ///< what is computed of C, which is square then; nothing else is read or written
  bool has_real_diagonal = false;      ///< the imaginary parts of C's diagonal become +0; not where part is Whole
  int threads = 0;                     ///< threads to use; 0: as many as the executor was made with
};

/// Does the executor take the product, by the kernel of this name or by the one that gemm() would take? Addresses do
/// not matter.
TESSERA_API bool takes_stored_product(const Executor& executor, const StoredProductCall& call,
                                      std::string_view kernel = {}) noexcept;
/// Computes the product if the executor takes it, by the kernel of this name or by the one that gemm() would take.
/// Returns false, and has written nothing, if it does not take it or has no memory for it.
TESSERA_API bool stored_product(Executor& executor, Queue& queue, const StoredProductCall& call,
                                std::string_view kernel = {}) noexcept;

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
