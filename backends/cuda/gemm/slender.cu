/// slender: products whose C has few rows or few columns. The large operand is what costs: it is read once, as fast as
/// memory goes.
///
/// Blocks take 128 rows of the large operand and one segment of k, so that also a single row of C keeps all
/// multiprocessors busy; the segments' sums are added in ascending order at the end, which is the canonical summation.
/// Tiles come by cp.async, three ahead, through warps of their own: with one computing warp a scheduler, nothing else
/// would hide what starting a copy costs. Bytes: the large operand; operations: 2·m·n·k. Chen et al., "TSM2: Optimizing
/// Tall-and-Skinny Matrix-Matrix Multiplication on GPUs" (ICS 2019).

#include <algorithm>

#include <tessera/executor.hpp>

#include "async_loader.cuh"
#include "grid.cuh"
#include "ladder.hpp"
#include "segment_sums.cuh"
#include "stream.hpp"

namespace tessera::cuda {
namespace {

constexpr int threads = 128; ///< that compute, a row of the large tile each, and as many that copy for them
constexpr int stages = 4;
constexpr int slender = 64; ///< up to here a side of C is small
template <class T>
constexpr int depth = 128 / sizeof(T);

/// The large operand by rows of `length`, the small one by `count`; C has one for each pair.
template <class T>
struct SlenderOperands {
  OperandSlice<T> large;
  const T* small;
  Index small_row, small_k;
  T small_padding;
  Index length, count, k;
  Index segments;
  T* sums; ///< [segment][count][length], if there are several segments
  T* c;
  Index c_large, c_small; ///< strides of C along the two
  T alpha, beta;

  /// `along`: how the large operand is stored.
  SlenderOperands(const VectorOperands<T>& x, bool by_columns, Along along)
      : large(by_columns ? slice_b(x, along, 0) : slice_a(x, along, 0)),
        small(by_columns ? x.a : x.b),
        small_row(by_columns ? x.a_row : x.b_col),
        small_k(by_columns ? x.a_col : x.b_row),
        small_padding(by_columns ? a_padding<T> : b_padding<T>),
        length(by_columns ? x.n : x.m),
        count(by_columns ? x.m : x.n),
        k(x.k),
        segments(ceil_div(x.k, canonical_segment)),
        sums(nullptr),
        c(x.c),
        c_large(by_columns ? 1 : x.ldc),
        c_small(by_columns ? x.ldc : 1),
        alpha(x.alpha),
        beta(x.beta) {}
};

/// What a thread computes of `rows` rows of the small operand by a warp's 32 of the large one. Shared memory fills one
/// register of each lane a cycle, so results are shared out in rectangles, not in columns: 4 + 4 reads feed 16 FMAs.
template <int rows>
struct Part {
  static constexpr int groups = rows < 16 ? 1 : 4; ///< of lanes, one below the other
  static constexpr int down = rows / groups;       ///< results along the small operand
  static constexpr int across = groups;            ///< and along the large one
  static constexpr int lanes = 32 / groups;        ///< side by side
};

/// A row of the large tile is padded to an odd number of vectors if its threads read it along k: no bank conflicts.
template <class T, int rows, Along along>
struct alignas(16) SlenderStage {
  static constexpr int lines = along == Along::K ? threads : depth<T>;
  static constexpr int ld = along == Along::K ? depth<T> + Vector<T>::width : threads;
  T large[lines][ld];
  T small[depth<T>][rows];

  /// Row i of the large tile at step p.
  __device__ T at(int i, int p) const { return along == Along::K ? large[i][p] : large[p][i]; }
};

/// This block's rows of the small operand at k0, by cp.async or as padding.
template <class T, int rows>
__device__ void copy_small(const SlenderOperands<T>& x, int thread, Index first_row, Index k0, Index end,
                           T (&tile)[depth<T>][rows]) {
#pragma unroll
  for (int e = thread; e < rows * depth<T>; e += threads) {
    const int row = x.small_k == 1 ? e / depth<T> : e % rows;
    const int p = x.small_k == 1 ? e % depth<T> : e / rows;
    if (first_row + row < x.count && k0 + p < end)
      __pipeline_memcpy_async(&tile[p][row], x.small + (first_row + row) * x.small_row + (k0 + p) * x.small_k,
                              sizeof(T));
    else
      tile[p][row] = x.small_padding;
  }
}

template <class T, int rows, Along along>
__global__ void __launch_bounds__(2 * threads) multiply(SlenderOperands<T> x) {
  using Stage = SlenderStage<T, rows, along>;
  using P = Part<rows>;
  extern __shared__ float4 shared[];
  auto* const stage = reinterpret_cast<Stage*>(shared);
  const auto groups = static_cast<unsigned>(ceil_div<Index>(x.count, rows));
  const auto segments = static_cast<unsigned>(x.segments);
  const Index first_row = static_cast<Index>(blockIdx.x % groups) * rows;
  const Index segment = blockIdx.x / groups % segments;
  const int thread = static_cast<int>(threadIdx.x) % threads;
  const Index begin = segment * canonical_segment;
  const Index end = begin + canonical_segment < x.k ? begin + canonical_segment : x.k;
  OperandSlice<T> slice = x.large;
  slice.first = static_cast<Index>(blockIdx.x / groups / segments) * threads;
  slice.data += begin * (along == Along::K ? 1 : slice.stride);
  slice.k = end - begin;

  const bool copies = threadIdx.x >= threads;
  AsyncTileLoader<T, threads, depth<T>, threads, along, false> large(slice, thread);
  const auto start = [&](Index k0, int to) {
    if (k0 < end) {
      large.copy(k0 - begin, stage[to].large);
      copy_small(x, thread, first_row, k0, end, stage[to].small);
    }
    __pipeline_commit();
  };
  if (copies) {
#pragma unroll
    for (int s = 0; s + 1 < stages; ++s) start(begin + s * depth<T>, s);
  }

  // Neighbours along the way in which the large tile is stored go to one thread as a vector, or to neighbouring lanes.
  const int lane = thread % 32;
  const int small_row = lane / P::lanes * P::down;
  const int large_row = thread / 32 * 32 + lane % P::lanes * (along == Along::K ? 1 : P::across);
  constexpr int apart = along == Along::K ? P::lanes : 1;
  T sum[P::down][P::across] = {};
  int current = 0;
  for (Index k0 = begin; k0 < end; k0 += depth<T>) {
    if (copies) __pipeline_wait_prior(stages - 2);
    __syncthreads(); // this stage is full, and the one before it has been used
    if (copies) {
      start(k0 + (stages - 1) * depth<T>, current == 0 ? stages - 1 : current - 1);
    } else {
      const Stage& now = stage[current];
#pragma unroll(rows <= 16 ? 16 : 8)
      for (int p = 0; p < depth<T>; ++p) {
        T a[P::down], b[P::across];
#pragma unroll
        for (int r = 0; r < P::down; ++r) a[r] = now.small[p][small_row + r];
#pragma unroll
        for (int c = 0; c < P::across; ++c) b[c] = now.at(large_row + c * apart, p);
#pragma unroll
        for (int r = 0; r < P::down; ++r)
#pragma unroll
          for (int c = 0; c < P::across; ++c) sum[r][c] = fused(a[r], b[c], sum[r][c]);
      }
    }
    current = current + 1 == stages ? 0 : current + 1;
  }
  if (copies) return;
#pragma unroll
  for (int r = 0; r < P::down; ++r)
#pragma unroll
    for (int c = 0; c < P::across; ++c) {
      const Index row = first_row + small_row + r;
      const Index i = slice.first + large_row + c * apart;
      if (row >= x.count || i >= x.length) continue;
      if (x.segments == 1)
        store_result(x.c + i * x.c_large + row * x.c_small, sum[r][c], x.alpha, x.beta);
      else
        x.sums[(segment * x.count + row) * x.length + i] = sum[r][c];
    }
}

const char* reject(const GemmKernel&, const GemmCall& call, const Capabilities& machine) noexcept {
  const Index small = std::min(call.m, call.n);
  if (small > slender) return "it is for products of which m or n is at most 64; use async_copy, or no kernel's name";
  if (machine.compute_major != 9) return nullptr;
  if (call.type == DType::F64 && small > slender / 4 && call.k >= 256)
    return "of more than 16 rows or columns in f64 stream_k makes more on Hopper; use it, or no kernel's name";
  if (call.type == DType::F32 && small > slender / 2 && std::max(call.m, call.n) > slender)
    return "of more than 32 rows or columns stream_k makes more on Hopper; use it, or no kernel's name";
  return nullptr;
}

template <class T, int rows, Along along>
Status launch(cudaStream_t stream, const SlenderOperands<T>& x) noexcept {
  constexpr std::size_t bytes = stages * sizeof(SlenderStage<T, rows, along>);
  const auto kernel = multiply<T, rows, along>;
  if (Status status = allow_shared(kernel, bytes, "slender"); !status.ok()) return status;
  const Index blocks = ceil_div<Index>(x.count, rows) * x.segments * ceil_div<Index>(x.length, threads);
  kernel<<<static_cast<unsigned>(blocks), 2 * threads, bytes, stream>>>(x);
  return launched("slender");
}

template <class T, int rows>
Status launch(cudaStream_t stream, const SlenderOperands<T>& x, bool along_k) noexcept {
  return along_k ? launch<T, rows, Along::K>(stream, x) : launch<T, rows, Along::Outer>(stream, x);
}

template <class T>
Status run(const GemmKernel&, Executor& executor, Queue& queue, const GemmCall& call) noexcept {
  const cudaStream_t stream = stream_of(queue);
  const bool by_columns = call.m <= call.n;
  const bool along_k = by_columns ? call.op_b == Op::Transpose : call.op_a == Op::None;
  SlenderOperands<T> x(VectorOperands<T>(call), by_columns, along_k ? Along::K : Along::Outer);
  Scratch scratch;
  if (x.segments > 1) {
    if (Status status = allocate_sums<T>(scratch, executor, queue, x.segments, x.count * x.length); !status.ok())
      return status;
    x.sums = scratch.as<T>();
  }
  const Index multiprocessors = executor.capabilities().multiprocessors;
  const auto blocks = [&](Index rows) {
    return ceil_div<Index>(x.count, rows) * x.segments * ceil_div<Index>(x.length, threads);
  };
  // Narrower than need be, where blocks are few.
  Status status = x.count == 1                                         ? launch<T, 1>(stream, x, along_k)
                  : x.count <= 4                                       ? launch<T, 4>(stream, x, along_k)
                  : x.count <= 16 || blocks(32) < multiprocessors      ? launch<T, 16>(stream, x, along_k)
                  : x.count <= 32 || blocks(slender) < multiprocessors ? launch<T, 32>(stream, x, along_k)
                                                                       : launch<T, slender>(stream, x, along_k);
  if (!status.ok() || x.segments == 1) return status;
  return launch_add_segments<T>(
      stream, {x.sums, x.segments, x.count, x.length, x.c, x.c_small, x.c_large, x.alpha, x.beta}, "slender");
}

template <class T>
constexpr GemmKernel row{.name = "slender",
                         .summary = "few rows or columns: the large operand read once, k cut at the segments",
                         .source = "TSM2",
                         .type = dtype_of<T>,
                         .tile = {slender, threads, depth<T>},
                         .summation = Summation::Canonical,
                         .reject = reject,
                         .run = run<T>};

} // namespace

const GemmKernel slender_f32 = row<float>;
const GemmKernel slender_f64 = row<double>;

} // namespace tessera::cuda
