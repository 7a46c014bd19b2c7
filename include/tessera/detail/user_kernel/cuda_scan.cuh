#pragma once

/// Scans on a device, in the order of order.hpp: the totals of the chunks, the scan of the totals, and the elements. A
/// warp has a chunk, and a lane a run. Only nvcc reads this file.

#include <cuda_runtime.h>

#include <tessera/detail/user_kernel/cuda_reduce.cuh>

#include <tessera/detail/macros_off.hpp>

namespace tessera::detail {

inline constexpr int scan_warps = 4; ///< the chunks of a block; each takes 8.25 KiB of shared memory in double

/// Scans the elements of a chunk by a warp, in shared memory. Lane l takes run l.
template <class T>
struct ChunkScan {
  T (*run)[run_length + 1]; ///< rows of 33, so that lanes that walk along their runs use different banks

  /// Returns the total of the chunk, whose `count` elements are in run[e / 32][e % 32].
  __device__ T scan(int count) const {
    const int lane = static_cast<int>(threadIdx.x % chunk_lanes);
    const int left = count - lane * run_length;
    const int length = left < run_length ? left : run_length;
    T total{};
    if (length > 0) {
      total = run[lane][0];
      for (int k = 1; k < length; ++k) {
        total = sum_of(total, run[lane][k]);
        run[lane][k] = total;
      }
    }
#pragma unroll
    for (int d = 1; d < chunk_lanes; d *= 2) {
      const T before = __shfl_up_sync(0xFFFFFFFFu, total, static_cast<unsigned>(d));
      if (lane >= d) total = sum_of(before, total);
    }
    const T before = __shfl_up_sync(0xFFFFFFFFu, total, 1u);
    if (lane > 0)
      for (int k = 0; k < length; ++k) run[lane][k] = sum_of(before, run[lane][k]);
    __syncwarp();
    return run[(count - 1) / run_length][(count - 1) % run_length];
  }
};

/// Scans each chunk of `in`. With `out` it stores the elements, plus what `before` says that comes before the chunk;
/// without it, only the totals.
template <class T, class Get, class Put>
__device__ void scan_chunks(Index count, Get get, Put put, const T* before, T* totals) {
  __shared__ T shared[scan_warps][run_length][run_length + 1];
  const int warp = static_cast<int>(threadIdx.x / chunk_lanes), lane = static_cast<int>(threadIdx.x % chunk_lanes);
  const Index chunk = static_cast<Index>(blockIdx.x) * scan_warps + warp;
  const Index first = chunk * chunk_values;
  if (first >= count) return;
  const int members = static_cast<int>(count - first < chunk_values ? count - first : chunk_values);
  for (int e = lane; e < members; e += chunk_lanes) shared[warp][e / run_length][lane] = get(first + e);
  __syncwarp();
  const T total = ChunkScan<T>{shared[warp]}.scan(members);
  if (totals != nullptr && lane == 0) totals[chunk] = total;
  const bool adds = before != nullptr && chunk > 0;
  const T carried = adds ? before[chunk - 1] : T{};
  for (int e = lane; e < members; e += chunk_lanes) {
    const T value = shared[warp][e / run_length][lane];
    put(first + e, adds ? sum_of(carried, value) : value);
  }
}

template <class T>
__global__ void __launch_bounds__(scan_warps* chunk_lanes)
    scan_totals_kernel(const __grid_constant__ Scan<T> scan, Index n, T* totals) {
  scan_chunks<T>(
      n, [&](Index e) { return scan.in(e); }, [](Index, T) {}, static_cast<const T*>(nullptr), totals);
}
template <class T>
__global__ void __launch_bounds__(scan_warps* chunk_lanes)
    scan_kernel(const __grid_constant__ Scan<T> scan, Index n, const T* before) {
  scan_chunks<T>(
      n, [&](Index e) { return scan.in(e); }, [&](Index e, T value) { scan.out(e) = value; }, before,
      static_cast<T*>(nullptr));
}
template <class T>
__global__ void __launch_bounds__(scan_warps* chunk_lanes) scan_level_kernel(T* values, Index n, T* totals) {
  scan_chunks<T>(
      n, [&](Index e) { return values[e]; }, [&](Index e, T value) { values[e] = value; },
      static_cast<const T*>(nullptr), totals);
}

template <class T>
__global__ void __launch_bounds__(scan_warps* chunk_lanes) add_before_kernel(T* values, Index n, const T* before) {
  const Index e = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (e >= chunk_values && e < n) values[e] = sum_of(before[e / chunk_values - 1], values[e]);
}

/// Totals go up level by level, and their sums come down again. A level of one chunk needs no other one.
template <class T>
int launch_scan(const KernelLaunch& launch, const Scan<T>& scan) {
  const auto stream = static_cast<cudaStream_t>(launch.stream);
  constexpr int threads = scan_warps * chunk_lanes;
  const KernelLevels all = kernel_levels(launch.cols, sizeof(T));
  const DeviceLevels<T> at(all, launch.scratch);
  const auto blocks = [](Index count) { return blocks_for(chunks_of(count), scan_warps); };
  if (all.levels > 1) scan_totals_kernel<<<blocks(launch.cols), threads, 0, stream>>>(scan, launch.cols, at.values[0]);
  const T* none = nullptr;
  // values[level] has count[level] totals. Each level but the last is scanned in chunks, whose totals are the next one.
  for (int level = 0; level + 1 < all.levels; ++level)
    scan_level_kernel<<<blocks(at.count[level]), threads, 0, stream>>>(at.values[level], at.count[level],
                                                                       at.values[level + 1]);
  for (int level = all.levels - 3; level >= 0; --level)
    add_before_kernel<<<blocks_for(at.count[level], threads), threads, 0, stream>>>(at.values[level], at.count[level],
                                                                                    at.values[level + 1]);
  scan_kernel<<<blocks(launch.cols), threads, 0, stream>>>(scan, launch.cols, all.levels > 1 ? at.values[0] : none);
  return static_cast<int>(cudaGetLastError());
}

} // namespace tessera::detail

#include <tessera/detail/macros_on.hpp>
