/// canonical of whole numbers: a warp adds a chunk of 1024 squares, then warps add the chunks' sums in the same way.
///
/// The sum is exact, so the order of additions decides no bit. The chunks are as long as in canonical.cu, to compare
/// the two.

#include <utility>

#include <tessera/executor.hpp>

#include "reference/reduce/canonical.hpp"

#include "rung.cuh"

namespace tessera::cuda {
namespace {

constexpr int warps = 8;
constexpr int lanes = static_cast<int>(host::reduce_lanes);

__device__ host::WholeSum term(std::int32_t x) { return host::WholeSum::square(x); }
__device__ host::WholeSum term(host::WholeSum x) { return x; }

/// X: std::int32_t, or host::WholeSum on the later levels.
template <class X>
__global__ void __launch_bounds__(warps* lanes)
    fold_whole_chunks(GridStride stride, const X* x, Index ld, host::WholeSum* sums) {
  const Index chunk = static_cast<Index>(blockIdx.x) * warps + threadIdx.x / lanes;
  const int lane = static_cast<int>(threadIdx.x % lanes);
  const Index first = chunk * host::reduce_chunk;
  if (first >= stride.count) return;
  const Index left = stride.count - first;
  const int count = static_cast<int>(left < host::reduce_chunk ? left : host::reduce_chunk);
  Walk walk(stride, first + lane);
  host::WholeSum sum{};
#pragma unroll 8
  for (int e = lane; e < count; e += lanes) {
    sum += term(x[walk.row * ld + walk.col]);
    walk.next(stride);
  }
  for (int width = lanes / 2; width > 0; width /= 2) sum += from_lane_above(sum, width);
  if (lane == 0) sums[chunk] = sum;
}

template <class X>
Status fold(Queue& queue, Index rows, Index cols, const X* x, Index ld, host::WholeSum* sums) noexcept {
  const Index blocks = (host::chunk_count(rows * cols) + warps - 1) / warps;
  fold_whole_chunks<<<static_cast<unsigned>(blocks), warps * lanes, 0, stream_of(queue)>>>(
      GridStride(rows, cols, lanes), x, ld, sums);
  return launched("canonical");
}

Status run(const ReduceKernel&, Executor& executor, Queue& queue, const ReduceCall& call,
           ReduceResult& result) noexcept {
  Index count = host::chunk_count(call.rows * call.cols);
  Scratch scratch;
  if (Status status = scratch.allocate(
          executor, queue, static_cast<std::size_t>(count + host::chunk_count(count)) * sizeof(host::WholeSum));
      !status.ok())
    return status;
  auto* sums = scratch.as<host::WholeSum>();
  host::WholeSum* next = sums + count;
  if (Status status = fold(queue, call.rows, call.cols, static_cast<const std::int32_t*>(call.x), call.ldx, sums);
      !status.ok())
    return status;
  while (count > 1) {
    if (Status status = fold(queue, 1, count, sums, count, next); !status.ok()) return status;
    std::swap(sums, next);
    count = host::chunk_count(count);
  }
  host::WholeSum sum{};
  if (Status status =
          check(cudaMemcpyAsync(&sum, sums, sizeof sum, cudaMemcpyDeviceToHost, stream_of(queue)), "fetching a sum");
      !status.ok())
    return status;
  if (Status status = queue.synchronize(); !status.ok()) return status;
  return host::set_whole(call, sum, result);
}

} // namespace

const ReduceKernel canonical_squares_i32 = host::whole_row("a warp a chunk of 1024 whole numbers; exact in int64", run);

} // namespace tessera::cuda
