#pragma once

/// The lines of a product's operands, rows of op(A) and columns of op(B): what is known of each, and how their whole
/// numbers lie in memory.
///
/// Each line becomes 16 planes of 8-bit numbers: 15 residues and the sizes. They lie in panels of 128 lines, a panel in
/// blocks of 128 k, a block in its planes, and these in groups of 8 lines by 16 k, 128 contiguous bytes each: so one
/// bulk copy brings a plane's block, the matrix units read it without bank conflicts, and what is written at one time
/// is near in memory. Lines are padded to pairs of panels and k to whole blocks with zeros.

#include <cuda_runtime_api.h>

#include <tessera/detail/int8_units.hpp>
#include <tessera/status.hpp>

#include "cuda/gemm/common/copies/strided_matrix.hpp"
#include "residues.cuh"

namespace tessera::cuda::int8_units {

constexpr int block_k = 128;                       ///< steps of k, and bytes of a line, of a block
constexpr int panel_lines = 128;                   ///< lines of a panel
constexpr int plane_bytes = panel_lines * block_k; ///< of a plane's block

/// What is known of a line. Memory that is cleared is a line of zeros.
struct alignas(16) Facts {
  unsigned long long largest;  ///< bits of the largest magnitude
  unsigned long long size_sum; ///< of sizes
  unsigned long long nonzeros;
  unsigned long long unused;

#ifdef __CUDACC__
  __device__ bool fits() const {
    return largest == 0 || (largest < 0x7FF0000000000000 && exponent() >= int8::least_exponent);
  }
  __device__ int exponent() const {
    return largest == 0 ? int8::least_exponent : static_cast<int>(largest >> 52) - 1022;
  }
  __device__ int8::Line line() const {
    return {exponent(), fits() ? static_cast<std::int64_t>(nonzeros) : -1, static_cast<std::int64_t>(size_sum)};
  }
#endif
};

/// An operand: `x` has its lines as rows, and k as columns.
struct Lines {
  StridedMatrix<double> x;
  Index padded = 0; ///< number of lines, with zeros that pad the last panels
  Index blocks = 0; ///< of k
  char* data = nullptr;
  Facts* facts = nullptr;   ///< of all padded lines
  int* exponents = nullptr; ///< of all padded lines

  Lines() = default;
  explicit Lines(const StridedMatrix<double>& lines)
      : x(lines),
        padded((lines.rows + 2 * panel_lines - 1) / (2 * panel_lines) * (2 * panel_lines)),
        blocks((lines.cols + block_k - 1) / block_k) {}

  /// Says whether lines are contiguous in memory, or else their elements of one k.
  __host__ __device__ bool along_k() const { return x.col_stride == 1; }
  Index bytes() const { return padded * blocks * block_k * planes; }
  Index facts_bytes() const { return padded * static_cast<Index>(sizeof(Facts)); }
  /// Returns where the number of step p of a line is in the first plane. The next plane's is plane_bytes further on.
  __host__ __device__ Index offset_of(Index line, Index p) const {
    const Index block = line / panel_lines * blocks + p / block_k, in_panel = line % panel_lines;
    return block * planes * plane_bytes + in_panel / 8 * 8 * block_k + p % block_k / 16 * 128 + in_panel % 8 * 16 +
           p % 16;
  }
};

/// Finds the largest magnitudes and counts of both operands' lines. The facts have been cleared.
Status find_extents(cudaStream_t stream, const Lines& a, const Lines& b);

/// Makes whole numbers of `bits` bits of both operands' lines, and fills their planes, facts and exponents. The facts
/// have been cleared.
Status pack_lines(cudaStream_t stream, const Lines& a, const Lines& b, int bits);

} // namespace tessera::cuda::int8_units
