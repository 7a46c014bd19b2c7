/// canonical: the reduction that has the same bits on every backend. Matrix's norms use it.
///
/// A warp takes a chunk of 1024 elements: lane l adds elements l, l+32, …, and shuffles fold the lanes. The reference
/// defines this order. The same kernel reduces the chunks' sums until one sum is left, so that it reads the matrix once
/// and a thousandth of that again. Any number of blocks gives the same bits.

#include <tessera/executor.hpp>
#include <tessera/half.hpp>

#include "reference/reduce/canonical.hpp"

#include "rung.cuh"

namespace tessera::cuda {
namespace {

constexpr int warps = 8;       // Warps of a block; each takes a chunk.
constexpr int loads_ahead = 8; // Elements that a lane loads before it adds the first of them.
constexpr int lanes = static_cast<int>(host::reduce_lanes);
static_assert(host::reduce_lanes == 32, "a warp folds a chunk");
static_assert(host::reduce_chunk % (host::reduce_lanes * loads_ahead) == 0);

struct Square {
  static __device__ double of(double x) { return __dmul_rn(x, x); }
};
struct Magnitude {
  static __device__ double of(double x) { return fabs(x); }
};
struct Itself {
  static __device__ double of(double x) { return x; }
};

struct Add {
  static __device__ double join(double sum, double value) { return __dadd_rn(sum, value); }
};
/// Returns the larger of two numbers. NaN counts as larger than every number.
struct Larger {
  static __device__ double join(double x, double y) { return x > y || isnan(x) ? x : y; }
};

template <class T, class Term, class Join>
__global__ void __launch_bounds__(warps* lanes) fold_chunks(GridStride stride, const T* x, Index ld, double* sums) {
  const Index chunk = static_cast<Index>(blockIdx.x) * warps + threadIdx.x / lanes;
  const int lane = static_cast<int>(threadIdx.x % lanes);
  const Index first = chunk * host::reduce_chunk;
  if (first >= stride.count) return;
  const Index left = stride.count - first;
  const int count = static_cast<int>(left < host::reduce_chunk ? left : host::reduce_chunk);
  Walk walk(stride, first + lane);
  double sum = 0;
  for (int e = lane; e < count; e += loads_ahead * lanes) {
    T value[loads_ahead];
#pragma unroll
    for (int u = 0; u < loads_ahead; ++u) {
      if (e + u * lanes < count) value[u] = x[walk.row * ld + walk.col];
      walk.next(stride);
    }
#pragma unroll
    for (int u = 0; u < loads_ahead; ++u)
      if (e + u * lanes < count) sum = Join::join(sum, Term::of(static_cast<double>(value[u])));
  }
  for (int width = lanes / 2; width > 0; width /= 2)
    sum = Join::join(sum, __shfl_down_sync(0xFFFFFFFFu, sum, static_cast<unsigned>(width)));
  if (lane == 0) sums[chunk] = sum;
}

template <class T, class Term, class Join>
Status fold(Queue& queue, Index rows, Index cols, const T* x, Index ld, double* sums) noexcept {
  const Index blocks = (host::chunk_count(rows * cols) + warps - 1) / warps;
  fold_chunks<T, Term, Join><<<static_cast<unsigned>(blocks), warps * lanes, 0, stream_of(queue)>>>(
      GridStride(rows, cols, lanes), x, ld, sums);
  return launched("canonical");
}

template <class T, class Term, class Join>
Status run(const ReduceKernel&, Executor& executor, Queue& queue, const ReduceCall& call,
           ReduceResult& result) noexcept {
  Index count = host::chunk_count(call.rows * call.cols);
  Scratch scratch;
  if (Status status = scratch.allocate(executor, queue,
                                       static_cast<std::size_t>(count + host::chunk_count(count)) * sizeof(double));
      !status.ok())
    return status;
  double* sums = scratch.as<double>();
  double* next = sums + count;
  if (Status status = fold<T, Term, Join>(queue, call.rows, call.cols, static_cast<const T*>(call.x), call.ldx, sums);
      !status.ok())
    return status;
  while (count > 1) {
    if (Status status = fold<double, Itself, Join>(queue, 1, count, sums, count, next); !status.ok()) return status;
    std::swap(sums, next);
    count = host::chunk_count(count);
  }
  if (Status status =
          check(cudaMemcpyAsync(&result.value, sums, sizeof(double), cudaMemcpyDeviceToHost, stream_of(queue)),
                "fetching a sum");
      !status.ok())
    return status;
  return queue.synchronize();
}

template <class T, class Term, class Join>
constexpr ReduceKernel rung(ReduceOp op) {
  return {.name = "canonical",
          .summary = "a warp a chunk of 1024, folded by shuffles; the same bits on every backend",
          .source = "Tessera",
          .op = op,
          .type = dtype_of<T>,
          .summation = Summation::Canonical,
          .run = run<T, Term, Join>};
}

} // namespace

const ReduceKernel canonical_squares_f32 = rung<float, Square, Add>(ReduceOp::SumOfSquares);
const ReduceKernel canonical_squares_f64 = rung<double, Square, Add>(ReduceOp::SumOfSquares);
const ReduceKernel canonical_squares_f16 = rung<f16, Square, Add>(ReduceOp::SumOfSquares);
const ReduceKernel canonical_squares_bf16 = rung<bf16, Square, Add>(ReduceOp::SumOfSquares);
const ReduceKernel canonical_sum_f32 = rung<float, Magnitude, Add>(ReduceOp::SumAbs);
const ReduceKernel canonical_sum_f64 = rung<double, Magnitude, Add>(ReduceOp::SumAbs);
const ReduceKernel canonical_sum_f16 = rung<f16, Magnitude, Add>(ReduceOp::SumAbs);
const ReduceKernel canonical_sum_bf16 = rung<bf16, Magnitude, Add>(ReduceOp::SumAbs);
const ReduceKernel canonical_max_f32 = rung<float, Magnitude, Larger>(ReduceOp::MaxAbs);
const ReduceKernel canonical_max_f64 = rung<double, Magnitude, Larger>(ReduceOp::MaxAbs);
const ReduceKernel canonical_max_f16 = rung<f16, Magnitude, Larger>(ReduceOp::MaxAbs);
const ReduceKernel canonical_max_bf16 = rung<bf16, Magnitude, Larger>(ReduceOp::MaxAbs);

} // namespace tessera::cuda
