#pragma once

/// Split operands for the warpgroup matrix units. Each element is split into one or more terms of a narrower type, and
/// the terms are stored in the order in which the product reads them, as packing does for a micro-kernel on a CPU
/// (BLIS).
///
/// Each term is what the terms before it leave of the element, rounded to nearest: two fp16 terms keep 22 bits, three
/// bf16 terms keep 24. fp16 has few exponents, so in the emulated modes each chunk of a row of op(A) or a column of
/// op(B) is first scaled (chunk_scales.cuh): then the last term loses at most 2⁻³⁹ of the chunk's largest element.
///
/// All terms of a panel's block of k are contiguous, so that one bulk copy brings them. Terms follow one another within
/// a block, blocks within a panel, and panels within the operand. If there are scales, a block ends with the factors
/// that undo them, one for each row. Edges are padded with zeros.

#include <cuda_runtime_api.h>

#include <tessera/status.hpp>

#include "cuda/gemm/common/copies/strided_matrix.hpp"
#include "cuda/gemm/common/unfit_lines.cuh"
#include "cuda/gemm/common/wgmma.cuh"

namespace tessera::cuda {

/// A split operand: op(A) by rows, or op(B) by columns. "Rows" below means either.
struct SplitOperand {
  char* data = nullptr;
  bool scaled = false;
  Index rows = 0, k = 0;
  int panel_rows = 0, block_k = 0, terms = 0, element_bytes = 0;
  Index panels = 0, blocks = 0;

  SplitOperand(Index rows_, Index k_, int panel_rows_, Index panels_, int block_k_, int terms_, MatrixUnitType type,
               bool scaled_)
      : scaled(scaled_),
        rows(rows_),
        k(k_),
        panel_rows(panel_rows_),
        block_k(block_k_),
        terms(terms_),
        element_bytes(bytes_of(type)),
        panels(panels_),
        blocks((k_ + block_k_ - 1) / block_k_) {}

  /// Returns the bytes of one term of a panel's block of k.
  __host__ __device__ Index term_bytes() const { return Index{panel_rows} * block_k * element_bytes; }
  __host__ __device__ Index block_bytes() const {
    return terms * term_bytes() + (scaled ? panel_rows * static_cast<int>(sizeof(float)) : 0);
  }
  __host__ __device__ Index bytes() const { return panels * blocks * block_bytes(); }
  /// Returns the byte offset of the 16 bytes that hold row r of a panel from element p of a block of k on. They lie in
  /// groups of 8 rows by 16 bytes.
  __host__ __device__ Index offset_in_term(int r, int p) const {
    const int chunks = block_k * element_bytes / 16;
    return (Index{r / 8} * chunks + p * element_bytes / 16) * 128 + r % 8 * 16;
  }
};

/// What packing does with the marks of a product's lines, where an element cannot be split (NaN, Inf, or an element
/// that rounds to Inf). Rows and Columns: it marks the row or column of C, and something has cleared the marks before.
/// Cleared: it clears all marks, and leaves the factor NaN to the product, which sets them.
enum class Marks { Rows, Columns, Cleared };

/// Fills `out`. There are marks if there are several terms or scales. Scales are of fp16 with one term or two.
Status split_operand(cudaStream_t stream, MatrixUnitType type, const StridedMatrix<float>& x, const SplitOperand& out,
                     const UnfitLines& unfit, Marks how);

} // namespace tessera::cuda
