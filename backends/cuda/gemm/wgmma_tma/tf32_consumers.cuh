#pragma once

/// Consumers for f32 operands in tf32. The matrix units want the second operand K-major, and the first one too unless
/// it comes from registers. So consumers read the first operand from shared memory into registers, whichever way it is
/// stored. The matrix units ignore the last 13 bits of both operands.

#include "cluster_split_k.cuh"
#include "old_results.cuh"

namespace tessera::cuda::tma {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// A lane's elements of 16 rows and 32 k. It has the rows 2·(lane / 4) and the next one, so that two neighbours of an
/// MN-major operand are read at once. They stand for the matrix units' rows lane / 4 and lane / 4 + 8.
struct Fragments {
  unsigned a[16];

  __device__ void load(const char* stage, Major major, int warp, int lane) {
    const int pair = lane / 4, k = lane % 4;
    if (major == Major::MN) {
      const int chunk = warp % 2 * 4 + pair / 2;
      const char* const box = stage + warp / 2 * 32 * 128 + pair % 2 * 8;
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int line = half * 4 + k;
        const char* const from = box + line * 128 + (chunk ^ line) * 16;
#pragma unroll
        for (int step = 0; step < 4; ++step) {
          const auto x = *reinterpret_cast<const float2*>(from + step * 8 * 128);
          a[step * 4 + half * 2] = __float_as_uint(x.x);
          a[step * 4 + half * 2 + 1] = __float_as_uint(x.y);
        }
      }
      return;
    }
#pragma unroll
    for (int next = 0; next < 2; ++next) {
      const int line = warp * 16 + pair * 2 + next;
      const char* const from = stage + line * 128 + k * 4;
#pragma unroll
      for (int chunk = 0; chunk < 8; ++chunk)
        a[chunk * 2 + next] = __float_as_uint(*reinterpret_cast<const float*>(from + (chunk ^ line % 8) * 16));
    }
  }
  /// Loads the fragment where shared memory is as busy as the matrix units, in narrow tiles. The swizzle puts lines
  /// that are four apart, or in a K-major operand eight apart, into the same banks; so half of the lanes read two
  /// elements in the other order.
  __device__ void load_in_turns(const char* stage, Major major, int warp, int lane) {
    const int pair = lane / 4, k = lane % 4;
    if (major == Major::MN) {
      const int chunk = warp % 2 * 4 + pair / 2;
      const bool later = k % 2 == 1; // the second four k are read first
      const char* const box = stage + warp / 2 * 32 * 128 + pair % 2 * 8;
      const auto place = [&](int line) { return box + line * 128 + (chunk ^ line) * 16; };
      const char *const first = place(later ? 4 + k : k), *const second = place(later ? k : 4 + k);
#pragma unroll
      for (int step = 0; step < 4; ++step) {
        const auto x = *reinterpret_cast<const float2*>(first + step * 8 * 128);
        const auto y = *reinterpret_cast<const float2*>(second + step * 8 * 128);
        a[step * 4] = __float_as_uint(later ? y.x : x.x);
        a[step * 4 + 1] = __float_as_uint(later ? y.y : x.y);
        a[step * 4 + 2] = __float_as_uint(later ? x.x : y.x);
        a[step * 4 + 3] = __float_as_uint(later ? x.y : y.y);
      }
      return;
    }
    const bool later = pair >= 4; // of two chunks the second one is read first
#pragma unroll
    for (int next = 0; next < 2; ++next) {
      const int line = warp * 16 + pair * 2 + next;
      const char* const from = stage + line * 128 + k * 4;
      const auto read = [&](int chunk) {
        return *reinterpret_cast<const float*>(from + (chunk ^ (later ? 1 : 0) ^ line % 8) * 16);
      };
#pragma unroll
      for (int chunk = 0; chunk < 8; chunk += 2) {
        const float x = read(chunk), y = read(chunk + 1);
        a[chunk * 2 + next] = __float_as_uint(later ? y : x);
        a[chunk * 2 + 2 + next] = __float_as_uint(later ? x : y);
      }
    }
  }
};

/// Stores results of Cᵀ to C. A warp's 16 rows are the columns from j on, and a lane's two rows are neighbours there;
/// the tile's columns are the rows from i on. It writes whole sectors, 64 bytes of four rows at a time, straight from
/// the accumulators.
template <int count>
__device__ void store_transposed(const Output& x, const float (&sum)[count], int i, int j, int slice) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  j += lane / 4 * 2;
  i += lane % 4 * 2;
  float* const c = static_cast<float*>(x.c) + slice * x.plane + i * x.ldc + j;
  const bool pairs = x.vectors && j + 1 < x.n;
#pragma unroll
  for (int e = 0; e < count; e += 8) {
    float2 old[4]{};
    const auto row = [&](int r) { return e * 2 + r / 2 * 8 + r % 2; };
    if (x.beta != 0) {
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        const float* const from = c + row(r) * x.ldc;
        if (i + row(r) < x.m && j < x.n) old[r].x = from[0];
        if (i + row(r) < x.m && j + 1 < x.n) old[r].y = from[1];
      }
    }
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      if (i + row(r) >= x.m) continue;
      float* const to = c + row(r) * x.ldc;
      float2 value{x.alpha * sum[e + r / 2 * 4 + r % 2], x.alpha * sum[e + r / 2 * 4 + 2 + r % 2]};
      if (x.beta != 0) value = {fused(x.beta, old[r].x, value.x), fused(x.beta, old[r].y, value.y)};
      if (pairs) {
        *reinterpret_cast<float2*>(to) = value;
      } else {
        if (j < x.n) to[0] = value.x;
        if (j + 1 < x.n) to[1] = value.y;
      }
    }
  }
}

template <class S, Storing storing>
__device__ void consume_from_registers(const TmaProduct& x, char* shared, Barriers<S::count, S::sharers>& barriers,
                                       Arrivals& arrivals, unsigned rank, const WorkTile<S>* work_tiles,
                                       volatile int* begun) {
  constexpr bool with_epilogue = storing == Storing::Epilogue;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32 - 4;
  Ring<S::count> ring;
  const int stages = stages_of<MatrixUnitType::Tf32, S>(x);
  const int own_b = S::b_of(warp / 4, Major::K);
  const unsigned full = shared_address(barriers.full), empty = shared_address(barriers.empty);
  char* const buffers = shared + S::count * static_cast<int>(S::bytes) + warp * staging;
  float waiting[1];                                                     // in tf32 no sums wait in registers
  const Output in_registers = S::columns < 128 ? held(x.to) : Output{}; // wider tiles leave no registers for it
  const Output& to = S::columns < 128 ? in_registers : x.to;
  wait_for_kernel_before();
  const Clusters<S> clusters(x);
  for (int index = clusters.first; index < clusters.all; index += clusters.count) {
    const WorkTile<S> work(work_tiles, barriers.full, ring);
    if constexpr (storing == Storing::AddsC)
      if (threadIdx.x == 128) *begun = index;
    const int blocks = work.uniform_blocks();
    float sum[S::columns / 2];
    SegmentTotal<MatrixUnitType::Tf32, S> total;
    for (int left = blocks;;) {
      const int here = min(left, x.segment_blocks); // blocks of k in this segment
      int before = -1;                              // the stage whose products may still run
      int k = 0;
      const auto step = [&](Fragments& fragments) {
        wait_at(full + ring.stage * 8, ring.phase);
        const char* stage = shared + ring.stage * S::bytes;
        if constexpr (S::columns <= 64)
          fragments.load_in_turns(stage, x.a.major, warp % (S::rows / 16), lane);
        else
          fragments.load(stage, x.a.major, warp % (S::rows / 16), lane);
        const SwizzledDescriptor b(stage + S::a_bytes + own_b);
        begin_products();
#pragma unroll
        for (unsigned i = 0; i < 4; ++i)
          multiply_tf32<S::columns>(sum, fragments.a + i * 4, b.at(i * 32), i == 0 ? k > 0 : 1);
        commit_products();
        wait_for_products<1>();
        if (S::stashes && left < blocks && k == min(showing_block, here - 4)) show_waiting();
        __syncwarp(); // a lane that gives a stage back does so for all lanes
        if (before >= 0) barriers.release_at(empty + before * 8, lane);
        before = ring.stage;
        ring.advance(stages);
        ++k;
      };
      // The fragments of the next products are read while the products before run.
      Fragments even, odd;
      while (true) {
        step(even);
        if (k == here) break;
        step(odd);
        if (k == here) break;
      }
      wait_for_products<0>();
      __syncwarp();
      barriers.release(before, lane);
      total.add(sum, left == blocks, left == here, waiting, x.stash, shared, buffers, barriers, ring);
      left -= here;
      if (left == 0) break;
    }
    const int row = work.row_of(warp), col = work.col_of(warp / 4);
    const auto add_old = [&](auto& sums) {
      if constexpr (storing == Storing::AddsC) {
        if (x.swapped) return add_old_columns<2, float>(to, x.epilogue, sums, col, row);
        if constexpr (S::sends_boxes) wait_for_boxes<0>(); // the copy engine has read the buffers
        add_old_rows<true, float>(to, x.epilogue, sums, buffers, row, col);
      }
    };
    constexpr bool adds_here = storing == Storing::AddsC && S::sharing != Sharing::Results;
    auto& result = total.result(sum);
    if constexpr (adds_here) add_old(result);
    if (x.slices > 1 && clusters.is_last(index)) launch_dependents();
    if constexpr (S::sends_boxes && !with_epilogue) {
      if (!clusters.is_last(index) && x.in_boxes) {
        if (x.swapped)
          send_columns(x.c, result, to.alpha, buffers, col, row);
        else
          send_rows<true>(x.c, result, to.alpha, buffers, row, col);
        continue;
      }
      wait_for_boxes<0>(); // the copy engine must have read the buffers, which are needed now
    }
    const auto store_all = [&](const auto& sums, char* buffer) {
      if constexpr (with_epilogue) {
        if (x.swapped)
          store_columns_with_epilogue<2>(x.epilogue, sums, col, row);
        else
          store_with_epilogue<true>(x.epilogue, sums, buffer, row, col);
      } else if (x.swapped) {
        store_transposed(to, sums, col, row, work.slice);
      } else {
        store<MatrixUnitType::Bf16, true>(to, sums, buffer, row, col, work.slice);
      }
    };
    if constexpr (S::sharing == Sharing::Results) {
      float all[S::columns / 2]{};
      char* const sums = shared + stages * static_cast<int>(S::bytes);
      if (add_cluster_parts<S>(x, result, all, sums, arrivals, warp, lane, static_cast<int>(rank))) {
        add_old(all);
        store_all(all, buffers);
      }
    } else {
      store_all(result, buffers);
    }
  }
}

#endif

} // namespace tessera::cuda::tma
