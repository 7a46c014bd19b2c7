#pragma once

/// Split operands for the warpgroup matrix units. Each element is split into one or more terms of a narrower type, and
/// the terms are stored in the order in which the product reads them, as packing does for a micro-kernel on a CPU
/// (BLIS).
///
/// Each term is what the terms before it leave of the element, rounded to nearest: two fp16 terms keep 22 bits, three
/// bf16 terms keep 24. fp16 has few exponents, so rows of op(A) and columns of op(B) are first scaled by powers of two,
/// which bring the largest element to [2¹⁴, 2¹⁵): then the low term loses at most 2⁻³⁹ of that element.
///
/// All terms of a panel's block of k are contiguous, so that one bulk copy brings them. Terms follow one another within
/// a block, blocks within a panel, and panels within the operand. Edges are padded with zeros.

#include <cuda_runtime_api.h>

#include <tessera/status.hpp>

#include "cuda/gemm/common/strided_matrix.hpp"
#include "cuda/gemm/common/wgmma.cuh"

namespace tessera::cuda {

/// A split operand: op(A) by rows, or op(B) by columns. "Rows" below means either.
struct SplitOperand {
  char* data = nullptr;
  unsigned* largest = nullptr; ///< bits of the largest magnitude of each row, if rows are scaled
  Index rows = 0, k = 0;
  int panel_rows = 0, block_k = 0, terms = 0, element_bytes = 0;
  Index panels = 0, blocks = 0;

  SplitOperand(Index rows_, Index k_, int panel_rows_, Index panels_, int block_k_, int terms_, UnitType type)
      : rows(rows_),
        k(k_),
        panel_rows(panel_rows_),
        block_k(block_k_),
        terms(terms_),
        element_bytes(bytes_of(type)),
        panels(panels_),
        blocks((k_ + block_k_ - 1) / block_k_) {}

  /// Returns the bytes of one term of a panel's block of k.
  __host__ __device__ Index term_bytes() const { return Index{panel_rows} * block_k * element_bytes; }
  __host__ __device__ Index block_bytes() const { return terms * term_bytes(); }
  __host__ __device__ Index bytes() const { return panels * blocks * block_bytes(); }
  /// Returns the byte offset of the 16 bytes that hold row r of a panel from element p of a block of k on. They lie in
  /// groups of 8 rows by 16 bytes.
  __host__ __device__ Index offset_in_term(int r, int p) const {
    const int chunks = block_k * element_bytes / 16;
    return (Index{r / 8} * chunks + p * element_bytes / 16) * 128 + r % 8 * 16;
  }
};

/// Returns the exponent of the power of two that brings a row's largest element to [2¹⁴, 2¹⁵).
__host__ __device__ inline int scale_exponent(unsigned largest_bits) {
  const int exponent = static_cast<int>(largest_bits >> 23);
  return largest_bits == 0 ? 0 : 14 + 127 - (exponent == 0 ? 1 : exponent);
}

/// Fills `out`, and its `largest` if that is set. If there are several terms, *unfit becomes 1 where an element cannot
/// be split: NaN, Inf, or an element that rounds to Inf.
Status split_operand(cudaStream_t stream, UnitType type, const StridedMatrix<float>& x, const SplitOperand& out,
                     int* unfit);

} // namespace tessera::cuda
