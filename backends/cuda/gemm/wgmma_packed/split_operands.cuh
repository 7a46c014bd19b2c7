#pragma once

/// Operands for the warpgroup matrix units: each element split into one or more terms of a narrower type, and stored in
/// the order in which the product reads them. What packing is to a micro-kernel on a CPU (BLIS).
///
/// A term takes what is left of the element by the terms before it, rounded to nearest: two fp16 terms keep 22 bits,
/// three bf16 terms 24. fp16 has few exponents, so rows of op(A) and columns of op(B) are scaled by powers of two
/// first, the largest element to [2¹⁴, 2¹⁵): then what the low term loses is at most 2⁻³⁹ of that element.
///
/// All terms of a panel's block of k are contiguous, so that one bulk copy brings them; terms, blocks and panels follow
/// one another. Edges are padded with zeros.

#include <cuda_runtime_api.h>

#include <tessera/status.hpp>

#include "cuda/gemm/common/strided_matrix.hpp"
#include "cuda/gemm/common/wgmma.cuh"

namespace tessera::cuda {

/// Packed op(A), by rows, or op(B), by columns; "rows" means either.
struct SplitOperand {
  char* data = nullptr;
  unsigned* largest = nullptr; ///< bits of each row's largest magnitude, if rows are scaled
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

  /// One term of a panel's block of k.
  __host__ __device__ Index term_bytes() const { return Index{panel_rows} * block_k * element_bytes; }
  __host__ __device__ Index block_bytes() const { return terms * term_bytes(); }
  __host__ __device__ Index bytes() const { return panels * blocks * block_bytes(); }
  /// The 16 bytes that hold row r of a panel from element p of a block on: in blocks of 8 rows by 16 bytes.
  __host__ __device__ Index offset_in_term(int r, int p) const {
    const int chunks = block_k * element_bytes / 16;
    return (Index{r / 8} * chunks + p * element_bytes / 16) * 128 + r % 8 * 16;
  }
};

/// The power of two that brings a row's largest element to [2¹⁴, 2¹⁵).
__host__ __device__ inline int scale_exponent(unsigned largest_bits) {
  const int exponent = static_cast<int>(largest_bits >> 23);
  return largest_bits == 0 ? 0 : 14 + 127 - (exponent == 0 ? 1 : exponent);
}

/// Fills `out`, and its `largest` if that is set. *unfit becomes 1 if an element cannot be split (NaN, Inf, or one that
/// rounds to Inf) and there are several terms.
Status split_operand(cudaStream_t stream, UnitType type, const StridedMatrix<float>& x, const SplitOperand& out,
                     int* unfit);

} // namespace tessera::cuda
