#include "split_operands.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "cuda/device/status.hpp"
#include "cuda/gemm/common/emulated_fp16x3/chunk_scales.cuh"
#include "cuda/gemm/common/grid.cuh"
#include "cuda/gemm/common/programmatic_launch.cuh"
#include "cuda/gemm/common/rounding.cuh"

namespace tessera::cuda {
namespace {

constexpr int threads = 256;
constexpr const char* packing = "packing an operand for the matrix units";

/// The format of a term: rounding to it (the bits are in the low end of a word), and its value.
template <MatrixUnitType type>
struct TermFormat;
template <>
struct TermFormat<MatrixUnitType::Fp16> {
  static __device__ unsigned round(float x) { return __half_as_ushort(__float2half_rn(x)); }
  static __device__ float value(unsigned bits) {
    return __half2float(__ushort_as_half(static_cast<unsigned short>(bits)));
  }
};
template <>
struct TermFormat<MatrixUnitType::Bf16> {
  static __device__ unsigned round(float x) { return __bfloat16_as_ushort(__float2bfloat16_rn(x)); }
  static __device__ float value(unsigned bits) { return __uint_as_float(bits << 16); }
};
template <>
struct TermFormat<MatrixUnitType::Tf32> {
  static __device__ unsigned round(float x) { return rounded_to_tf32(x); }
  static __device__ float value(unsigned bits) { return __uint_as_float(bits); }
};

/// A block's patch of the operand, shaped so that a warp reads whole sectors: 8 rows by 32 chunks of k if the operand
/// is stored along k, otherwise 32 rows by 8 chunks.
struct Patch {
  int rows, chunks;
  __host__ __device__ explicit Patch(bool along_k) : rows(along_k ? 8 : 32), chunks(threads / rows) {}
};

/// Reads `width` elements of a row from step p of k on; elements outside the operand are zeros.
template <int width>
__device__ void read(const StridedMatrix<float>& x, Index row, Index p, float (&element)[width]) {
  const float* from = x.data + row * x.row_stride + p * x.col_stride;
  const bool whole = row < x.rows && p + width <= x.cols;
  if (whole && x.col_stride == 1 && reinterpret_cast<std::uintptr_t>(from) % 16 == 0) {
#pragma unroll
    for (int e = 0; e < width; e += 4)
      *reinterpret_cast<float4*>(element + e) = *reinterpret_cast<const float4*>(from + e);
  } else {
#pragma unroll
    for (int e = 0; e < width; ++e) element[e] = row < x.rows && p + e < x.cols ? from[e * x.col_stride] : 0.0f;
  }
}

/// Both operands are packed at the same time, by two programmatic launches. The product waits for the second one alone,
/// so that this one must not end before the first one.
struct WaitAtEnd {
  __device__ ~WaitAtEnd() { wait_for_kernel_before(); }
};

/// Marks a line that has an element which cannot be split.
__device__ void mark(const UnfitLines& unfit, Marks how, Index line) {
  if (how == Marks::Rows)
    unfit.mark_row(line);
  else if (how == Marks::Columns)
    unfit.mark_column(line);
}

/// Splits elements, and stores their terms from `to` on. Returns whether all could be split.
template <MatrixUnitType type, int terms, int width>
__device__ bool write_terms(float (&left)[width], char* to, Index term_bytes) {
  bool fit = true;
#pragma unroll
  for (int term = 0; term < terms; ++term) {
    unsigned words[4] = {};
#pragma unroll
    for (int e = 0; e < width; ++e) {
      const unsigned bits = TermFormat<type>::round(left[e]);
      words[e * bytes_of(type) / 4] |= bits << e * bytes_of(type) % 4 * 8;
      if constexpr (terms > 1) {
        const float value = TermFormat<type>::value(bits);
        fit = fit && (term > 0 || fabsf(value) < INFINITY);
        left[e] -= value;
      }
    }
    *reinterpret_cast<uint4*>(to + term * term_bytes) = make_uint4(words[0], words[1], words[2], words[3]);
  }
  return fit;
}

template <MatrixUnitType type, int terms>
__global__ void __launch_bounds__(threads)
    split(StridedMatrix<float> x, SplitOperand out, UnfitLines unfit, Marks how) {
  constexpr int width = 16 / bytes_of(type); // elements of a chunk of 16 bytes
  launch_dependents();
  const WaitAtEnd wait;
  const Patch patch(x.col_stride == 1);
  const Index k_chunks = out.blocks * (out.block_k / width);
  const auto across = static_cast<unsigned>(ceil_div<Index>(k_chunks, patch.chunks));
  const int thread = static_cast<int>(threadIdx.x);
  const Index row = static_cast<Index>(blockIdx.x / across) * patch.rows + thread % patch.rows;
  const Index chunk = static_cast<Index>(blockIdx.x % across) * patch.chunks + thread / patch.rows;
  if (chunk >= k_chunks) return;
  const Index p = chunk * width;
  float left[width];
  read(x, row, p, left);
  const Index panel = row / out.panel_rows;
  char* to = out.data + (panel * out.blocks + p / out.block_k) * out.block_bytes() +
             out.offset_in_term(static_cast<int>(row % out.panel_rows), static_cast<int>(p % out.block_k));
  if (!write_terms<type, terms>(left, to, out.term_bytes())) mark(unfit, how, row);
}

/// The patch of a block that scales chunks: 8 rows by two chunks if the operand is stored along k, otherwise 32 rows by
/// one chunk. A thread has 8 elements of a row.
template <bool along_k>
struct ScaledPatch {
  static constexpr int rows = along_k ? 8 : 32, pieces = along_k ? 32 : 16, threads = rows * pieces;
  static constexpr int chunk_pieces = wgmma::chunk_k / 8, chunk_warps = chunk_pieces * rows / 32;
};

/// Scales and splits into one fp16 term or two. A block has `rounds` patches below one another, whose elements it reads
/// before it looks at the first.
template <bool along_k, int terms, int rounds>
__global__ void __launch_bounds__(ScaledPatch<along_k>::threads)
    split_scaled(StridedMatrix<float> x, SplitOperand out, UnfitLines unfit, Marks how) {
  using P = ScaledPatch<along_k>;
  __shared__ unsigned found[rounds][P::threads / 32][P::rows]; // largest magnitudes of the warps
  launch_dependents();
  const WaitAtEnd wait;
  if (how == Marks::Cleared)
    unfit.clear(static_cast<Index>(blockIdx.x) * P::threads + threadIdx.x, static_cast<Index>(gridDim.x) * P::threads);
  const Index all_pieces = out.blocks * (out.block_k / 8);
  const auto across = static_cast<unsigned>(ceil_div<Index>(all_pieces, P::pieces));
  const int thread = static_cast<int>(threadIdx.x), of_round = thread % P::rows;
  const Index first_row = static_cast<Index>(blockIdx.x / across) * (P::rows * rounds) + of_round;
  const Index piece = static_cast<Index>(blockIdx.x % across) * P::pieces + thread / P::rows;
  const Index p = piece * 8;
  float left[rounds][8];
#pragma unroll
  for (int round = 0; round < rounds; ++round) read(x, first_row + round * P::rows, p, left[round]);
#pragma unroll
  for (int round = 0; round < rounds; ++round) {
    unsigned largest = 0;
#pragma unroll
    for (const float element : left[round]) largest = max(largest, __float_as_uint(fabsf(element)));
#pragma unroll
    for (int lanes = P::rows; lanes < 32; lanes *= 2) largest = max(largest, __shfl_xor_sync(~0U, largest, lanes));
    found[round][thread / 32][of_round] = largest;
  }
  __syncthreads();
  // The first threads of a chunk each write its factor for one of its blocks.
  const int in_chunk = thread / P::rows % P::chunk_pieces;
  const Index factor_block = (piece - in_chunk) * 8 / out.block_k + in_chunk;
  const bool has_factor = in_chunk < wgmma::chunk_k / out.block_k && factor_block < out.blocks;
#pragma unroll
  for (int round = 0; round < rounds; ++round) {
    const Index row = first_row + round * P::rows;
    unsigned largest = 0;
#pragma unroll
    for (int warp = 0; warp < P::chunk_warps; ++warp)
      largest = max(largest, found[round][thread / 32 / P::chunk_warps * P::chunk_warps + warp][of_round]);
    const wgmma::ChunkScale scale(largest);
    if (largest >= wgmma::infinity_bits) mark(unfit, how, row);
    const int in_panel = static_cast<int>(row % out.panel_rows);
    char* const panel = out.data + row / out.panel_rows * out.blocks * out.block_bytes();
    if (has_factor)
      reinterpret_cast<float*>(panel + factor_block * out.block_bytes() + out.terms * out.term_bytes())[in_panel] =
          scale.factor;
    if (piece >= all_pieces) continue;
#pragma unroll
    for (float& element : left[round]) element *= scale.scale;
    char* const to =
        panel + p / out.block_k * out.block_bytes() + out.offset_in_term(in_panel, static_cast<int>(p % out.block_k));
    write_terms<MatrixUnitType::Fp16, terms>(left[round], to, out.term_bytes());
  }
}

template <bool along_k, int terms, int rounds>
Status launch_rounds(cudaStream_t stream, const StridedMatrix<float>& x, const SplitOperand& out,
                     const UnfitLines& unfit, Marks how) {
  using P = ScaledPatch<along_k>;
  const Index blocks =
      out.panels * out.panel_rows / (P::rows * rounds) * ceil_div<Index>(out.blocks * out.block_k / 8, P::pieces);
  const Launch launch{.blocks = blocks, .threads = P::threads, .programmatic = how == Marks::Columns};
  return launch_kernel(stream, launch, packing, split_scaled<along_k, terms, rounds>, x, out, unfit, how);
}

template <bool along_k, int terms>
Status launch_scaled(cudaStream_t stream, const StridedMatrix<float>& x, const SplitOperand& out,
                     const UnfitLines& unfit, Marks how) {
  constexpr int rounds = 2; // four leave too few warps
  if (out.panel_rows % (rounds * ScaledPatch<along_k>::rows) == 0)
    return launch_rounds<along_k, terms, rounds>(stream, x, out, unfit, how);
  return launch_rounds<along_k, terms, 1>(stream, x, out, unfit, how);
}

} // namespace

Status split_operand(cudaStream_t stream, MatrixUnitType type, const StridedMatrix<float>& x, const SplitOperand& out,
                     const UnfitLines& unfit, Marks how) {
  if (out.scaled) {
    const auto launch = x.col_stride == 1 ? (out.terms == 2 ? launch_scaled<true, 2> : launch_scaled<true, 1>)
                                          : (out.terms == 2 ? launch_scaled<false, 2> : launch_scaled<false, 1>);
    return launch(stream, x, out, unfit, how);
  }
  const Patch patch(x.col_stride == 1);
  const Index k_chunks = out.blocks * out.block_k * out.element_bytes / 16;
  const Index blocks = out.panels * out.panel_rows / patch.rows * ceil_div<Index>(k_chunks, patch.chunks);
  const auto kernel = type == MatrixUnitType::Tf32 ? split<MatrixUnitType::Tf32, 1>
                      : type == MatrixUnitType::Bf16
                          ? (out.terms == 3 ? split<MatrixUnitType::Bf16, 3> : split<MatrixUnitType::Bf16, 1>)
                          : split<MatrixUnitType::Fp16, 1>;
  const Launch launch{.blocks = blocks, .threads = threads, .programmatic = how == Marks::Columns};
  return launch_kernel(stream, launch, packing, kernel, x, out, unfit, how);
}

} // namespace tessera::cuda
