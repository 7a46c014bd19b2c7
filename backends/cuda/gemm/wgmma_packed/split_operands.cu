#include "split_operands.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "cuda/device/status.hpp"
#include "cuda/gemm/common/grid.cuh"
#include "cuda/gemm/common/rounding.cuh"

namespace tessera::cuda {
namespace {

constexpr int threads = 256;
constexpr int slab = 512; ///< k that one block searches for the largest magnitudes
constexpr unsigned infinity_bits = 0x7F800000u;

/// The format of a term: rounding to it (the bits are in the low end of a word), and its value.
template <UnitType type>
struct TermFormat;
template <>
struct TermFormat<UnitType::Fp16> {
  static __device__ unsigned round(float x) { return __half_as_ushort(__float2half_rn(x)); }
  static __device__ float value(unsigned bits) {
    return __half2float(__ushort_as_half(static_cast<unsigned short>(bits)));
  }
};
template <>
struct TermFormat<UnitType::Bf16> {
  static __device__ unsigned round(float x) { return __bfloat16_as_ushort(__float2bfloat16_rn(x)); }
  static __device__ float value(unsigned bits) { return __uint_as_float(bits << 16); }
};
template <>
struct TermFormat<UnitType::Tf32> {
  static __device__ unsigned round(float x) { return rounded_to_tf32(x); }
  static __device__ float value(unsigned bits) { return __uint_as_float(bits); }
};

/// A block's patch of the operand, shaped so that a warp reads whole sectors: 8 rows by 32 chunks of k if the operand
/// is stored along k, otherwise 32 rows by 8 chunks.
struct Patch {
  int rows, chunks;
  __host__ __device__ explicit Patch(bool along_k) : rows(along_k ? 8 : 32), chunks(threads / rows) {}
};

template <UnitType type, int terms>
__global__ void __launch_bounds__(threads) split(StridedMatrix<float> x, SplitOperand out, int* unfit) {
  constexpr int width = 16 / bytes_of(type); // elements of a chunk of 16 bytes
  const Patch patch(x.col_stride == 1);
  const Index k_chunks = out.blocks * (out.block_k / width);
  const auto across = static_cast<unsigned>(ceil_div<Index>(k_chunks, patch.chunks));
  const int thread = static_cast<int>(threadIdx.x);
  // Blocks go backwards: what the search for the largest magnitudes read last is still in the cache.
  const unsigned block = gridDim.x - 1 - blockIdx.x;
  const Index row = static_cast<Index>(block / across) * patch.rows + thread % patch.rows;
  const Index chunk = static_cast<Index>(block % across) * patch.chunks + thread / patch.rows;
  if (chunk >= k_chunks) return;
  const Index p = chunk * width;

  float left[width];
  const float* from = x.data + row * x.row_stride + p * x.col_stride;
  const bool whole = row < x.rows && p + width <= x.cols;
  if (whole && x.col_stride == 1 && reinterpret_cast<std::uintptr_t>(from) % 16 == 0) {
#pragma unroll
    for (int e = 0; e < width; e += 4)
      *reinterpret_cast<float4*>(left + e) = *reinterpret_cast<const float4*>(from + e);
  } else {
#pragma unroll
    for (int e = 0; e < width; ++e) left[e] = row < x.rows && p + e < x.cols ? from[e * x.col_stride] : 0.0f;
  }
  if (out.largest != nullptr) {
    const unsigned largest = row < x.rows ? out.largest[row] : 0;
    const int exponent = scale_exponent(largest);
    if (largest >= infinity_bits) *unfit = 1;
#pragma unroll
    for (int e = 0; e < width; ++e) left[e] = scalbnf(left[e], exponent);
  }
  const Index panel = row / out.panel_rows;
  char* to = out.data + (panel * out.blocks + p / out.block_k) * out.block_bytes() +
             out.offset_in_term(static_cast<int>(row % out.panel_rows), static_cast<int>(p % out.block_k));
#pragma unroll
  for (int term = 0; term < terms; ++term) {
    unsigned words[4] = {};
#pragma unroll
    for (int e = 0; e < width; ++e) {
      const unsigned bits = TermFormat<type>::round(left[e]);
      words[e * bytes_of(type) / 4] |= bits << e * bytes_of(type) % 4 * 8;
      if constexpr (terms > 1) {
        const float value = TermFormat<type>::value(bits);
        if (term == 0 && !(fabsf(value) < INFINITY)) *unfit = 1;
        left[e] -= value;
      }
    }
    *reinterpret_cast<uint4*>(to + term * out.term_bytes()) = make_uint4(words[0], words[1], words[2], words[3]);
  }
}

/// Finds the largest magnitude of each row. Magnitudes compare as their bits do, with NaN above all others.
__global__ void __launch_bounds__(threads) find_largest(StridedMatrix<float> x, unsigned* largest) {
  __shared__ unsigned found[threads];
  const bool along_k = x.col_stride == 1;
  const int rows = along_k ? 8 : 32;
  const auto across = static_cast<unsigned>(ceil_div<Index>(x.cols, slab));
  const int thread = static_cast<int>(threadIdx.x);
  const Index row = static_cast<Index>(blockIdx.x / across) * rows + (along_k ? thread / 32 : thread % 32);
  const Index begin = static_cast<Index>(blockIdx.x % across) * slab;
  const Index end = begin + slab < x.cols ? begin + slab : x.cols;
  unsigned bits = 0;
  if (row < x.rows) {
    const float* from = x.data + row * x.row_stride;
#pragma unroll 8
    for (Index p = begin + (along_k ? thread % 32 : thread / 32); p < end; p += threads / rows)
      bits = max(bits, __float_as_uint(fabsf(from[p * x.col_stride])));
  }
  found[thread] = bits;
  __syncthreads();
  if (thread >= rows) return;
  for (int other = 0; other < threads / rows; ++other)
    bits = max(other == 0 ? 0u : bits, found[along_k ? thread * 32 + other : thread + other * 32]);
  const Index own = static_cast<Index>(blockIdx.x / across) * rows + thread;
  if (own < x.rows && bits != 0) atomicMax(largest + own, bits);
}

} // namespace

Status split_operand(cudaStream_t stream, UnitType type, const StridedMatrix<float>& x, const SplitOperand& out,
                     int* unfit) {
  if (out.largest != nullptr) {
    if (Status status =
            check(cudaMemsetAsync(out.largest, 0, static_cast<std::size_t>(x.rows) * sizeof(unsigned), stream),
                  "clearing the largest magnitudes");
        !status.ok())
      return status;
    const Index blocks = ceil_div<Index>(x.rows, x.col_stride == 1 ? 8 : 32) * ceil_div<Index>(x.cols, slab);
    find_largest<<<static_cast<unsigned>(blocks), threads, 0, stream>>>(x, out.largest);
    if (Status status = launched("largest magnitudes of an operand"); !status.ok()) return status;
  }
  const Patch patch(x.col_stride == 1);
  const Index k_chunks = out.blocks * out.block_k * out.element_bytes / 16;
  const Index blocks = out.panels * out.panel_rows / patch.rows * ceil_div<Index>(k_chunks, patch.chunks);
  const auto kernel = type == UnitType::Tf32   ? split<UnitType::Tf32, 1>
                      : type == UnitType::Bf16 ? (out.terms == 3 ? split<UnitType::Bf16, 3> : split<UnitType::Bf16, 1>)
                                               : (out.terms == 2 ? split<UnitType::Fp16, 2> : split<UnitType::Fp16, 1>);
  kernel<<<static_cast<unsigned>(blocks), threads, 0, stream>>>(x, out, unfit);
  return launched("packing an operand for the matrix units");
}

} // namespace tessera::cuda
