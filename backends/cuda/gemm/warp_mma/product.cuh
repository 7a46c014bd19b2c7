#pragma once

/// The kernel: C := alpha·op(A)·op(B) + beta·C by a warp's matrix instructions, which all cards from compute capability
/// 8.0 on have. A block computes a tile of C: producer warps copy stages of both operands ahead of the consumer warps'
/// products. A segment of k is one chain of instructions. A block has all segments and adds their sums in registers;
/// or, from compute capability 9.0 on, the blocks of a cluster have one each, and the first block adds them. Source:
/// NVIDIA CUTLASS for the scheme.

#include "cuda/gemm/common/ceil_div.hpp"
#include "cuda/gemm/common/cluster_send.cuh"
#include "cuda/gemm/common/programmatic_launch.cuh"
#include "cuda/gemm/common/raster_order.hpp"
#include "pipeline.cuh"
#include "stages.cuh"

namespace tessera::cuda::warp_mma {

struct Product {
  Index m, n, k;
  Index segment; ///< k of each segment but the last one
  int parts;     ///< blocks of a cluster, one for each segment; 1: a block has all segments
  int stages;    ///< of the ring
  int sums_at;   ///< where the sums of other parts lie in shared memory, behind the ring
  StoredLines a, b;
  void* c;
  Index ldc;
  float alpha, beta;
  bool narrow; ///< C has the operands' type, not f32
  RasterOrder order;
  EpilogueStore<float> epilogue;
};

/// A block's tile: its side, the consumer warps down and across that share it, and the panels of a stage, with 128
/// bytes of k each.
template <int side_, int down_, int across_, int panels_>
struct BlockTile {
  static constexpr int side = side_, down = down_, across = across_;
  static constexpr int consumers = down * across * 32, producers = side < 64 ? 256 : 128; ///< threads
  static constexpr int threads = consumers + producers;
  static constexpr int rows = side / down, columns = side / across; ///< of a warp
  static constexpr int fragments_m = rows / 16, fragments_n = columns / 8;
  static constexpr int panels = panels_;
  static constexpr int most_stages = 24 / panels;
  static constexpr int least_stages = side < 64 ? producers / 64 : 2; ///< producers that take turns have one each
  /// Threads that copy a stage. In small tiles they take turns, because waiting for a stage takes them longer than
  /// copying one.
  static constexpr int copiers = side < 64 ? 64 : producers;
  /// Says whether registers hold the fragments of two whole panels, so that a chain never waits for shared memory.
  static constexpr bool holds_panels = fragments_m * fragments_n <= 2;
  /// Says whether operands may have shifted lines.
  static constexpr bool takes_shifted = side < 128;
  static constexpr int resident = side < 128 ? 2 : 1; ///< blocks that registers leave room for
  static constexpr int sum_bytes = side * side * static_cast<int>(sizeof(float));

  /// Returns the bytes of an operand's panel. Shifted lines are longer, by 32 bytes at most, of `side` or 32 lines.
  __host__ __device__ static constexpr int operand_bytes(Lines lines) {
    return side * depth_bytes + (lines == Lines::Shifted ? (side < 32 ? 32 : side) * 32 : 0);
  }
  __host__ __device__ static constexpr int panel_bytes(Lines lines) { return 2 * operand_bytes(lines); }
  __host__ __device__ static constexpr int stage_bytes(Lines lines) { return panels * panel_bytes(lines); }
};
using Large = BlockTile<128, 2, 4, 1>;
using Middle = BlockTile<64, 2, 2, 1>;
using Small = BlockTile<32, 2, 2, 2>;
using Least = BlockTile<16, 1, 1, 2>;

#if __CUDA_ARCH__ >= 800

/// A warp's sums: in each fragment a lane has two neighbours of row lane / 4, and two of the row 8 below it.
template <class Tile>
struct WarpSums {
  float at[Tile::fragments_m][Tile::fragments_n][4];

  __device__ void set(float value) {
    each([&](float& x) { x = value; });
  }
  /// Calls f for each sum.
  template <class F>
  __device__ void each(F f) {
#pragma unroll
    for (auto& across : at)
#pragma unroll
      for (auto& fragment : across)
#pragma unroll
        for (float& x : fragment) f(x);
  }
  /// Calls f for the four sums of each fragment, with the fragment's number.
  template <class F>
  __device__ void each_fragment(F f) {
#pragma unroll
    for (int i = 0; i < Tile::fragments_m; ++i)
#pragma unroll
      for (int j = 0; j < Tile::fragments_n; ++j) f(at[i][j], i * Tile::fragments_n + j);
  }
  /// Adds the sums of the segment that follows.
  __device__ void add(const WarpSums& next) {
#pragma unroll
    for (int i = 0; i < Tile::fragments_m; ++i)
#pragma unroll
      for (int j = 0; j < Tile::fragments_n; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e) at[i][j][e] = __fadd_rn(at[i][j][e], next.at[i][j][e]);
  }
};

/// Stores a warp's sums, of which the first one is C(row, column). R is C's type.
template <class R, class Tile>
__device__ void store(const Product& x, Index row, Index column, WarpSums<Tile>& sums, int lane) {
  row += lane / 4;
  column += lane % 4 * 2;
  if (x.epilogue.wanted) [[unlikely]] {
    float held[Tile::fragments_m * Tile::fragments_n * 4]; // in local memory, because the loop is not unrolled
    int next = 0;
    sums.each([&](float sum) { held[next++] = sum; });
#pragma unroll 1
    for (int v = 0; v < Tile::fragments_m * Tile::fragments_n * 2; ++v) {
      const int fragment = v / 2, half = v % 2;
      const float two[1][2]{{held[v * 2], held[v * 2 + 1]}};
      x.epilogue.store(
          [&](int) -> ResultPlace {
            return {row + fragment / Tile::fragments_n * 16 + half * 8, column + fragment % Tile::fragments_n * 8};
          },
          two);
    }
    return;
  }
#pragma unroll
  for (int i = 0; i < Tile::fragments_m; ++i)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const Index in_c = row + i * 16 + half * 8;
      if (in_c >= x.m) continue;
      R* const to = static_cast<R*>(x.c) + in_c * x.ldc;
#pragma unroll
      for (int j = 0; j < Tile::fragments_n; ++j)
#pragma unroll
        for (int e = 0; e < 2; ++e)
          if (const Index col = column + j * 8 + e; col < x.n)
            store_rounded(to + col, sums.at[i][j][half * 2 + e], x.alpha, x.beta);
    }
}

/// Adds up the sums of a cluster's blocks, of which each has one segment, in the first block. Returns false in the
/// others. `received` is memory of the first block.
template <class Tile>
__device__ bool add_parts(int parts, int part, WarpSums<Tile>& sums, char* received, [[maybe_unused]] void* arrivals) {
#if __CUDA_ARCH__ >= 900
  auto& counted = *static_cast<Arrivals*>(arrivals);
  const auto of = [&](int p, int fragment) {
    return received + (p - 1) * Tile::sum_bytes + (fragment * Tile::consumers + static_cast<int>(threadIdx.x)) * 16;
  };
  if (part > 0) {
    const unsigned barrier = place_in(0, &counted.barrier);
    sums.each_fragment([&](const float(&x)[4], int fragment) {
      send(place_in(0, of(part, fragment)), float4{x[0], x[1], x[2], x[3]}, barrier);
    });
    return false;
  }
  counted.wait();
  for (int p = 1; p < parts; ++p)
    sums.each_fragment([&](float(&x)[4], int fragment) {
      const auto more = *reinterpret_cast<const float4*>(of(p, fragment));
      x[0] = __fadd_rn(x[0], more.x);
      x[1] = __fadd_rn(x[1], more.y);
      x[2] = __fadd_rn(x[2], more.z);
      x[3] = __fadd_rn(x[3], more.w);
    });
#endif
  return true;
}

/// What a block has to compute: the first row and column of its tile, its first k, and the panels from there on.
struct Work {
  Index row, column, begin;
  int panels;
};

/// Copies the stages of both operands.
template <class T, class Tile, Along a_along, Along b_along, Lines lines>
__device__ void produce(const Product& x, const Work& work, unsigned shared, Barriers<Tile::most_stages> barriers) {
  constexpr int groups = Tile::producers / Tile::copiers;
  const int thread = static_cast<int>(threadIdx.x) - Tile::consumers;
  const int group = thread / Tile::copiers, of_group = thread % Tile::copiers;
  const Index begin = work.begin + group * Tile::panels * (depth_bytes / sizeof(T));
  PanelCopies<T, Tile::side, Tile::copiers, a_along, lines> a(x.a, work.row, begin, of_group);
  PanelCopies<T, Tile::side, Tile::copiers, b_along, lines> b(x.b, work.column, begin, of_group);
  Ring<Tile::most_stages> ring{group};
  const auto advance = [&] {
#pragma unroll
    for (int g = 0; g < groups; ++g) ring.advance(x.stages);
  };
  wait_for_kernel_before();
#pragma unroll 1
  for (int left = work.panels - group * Tile::panels; left > 0; left -= groups * Tile::panels, advance()) {
    barriers.wait_until_empty(ring);
    const unsigned to = shared + ring.stage * Tile::stage_bytes(lines);
#pragma unroll
    for (int panel = 0; panel < Tile::panels; ++panel) {
      if (panel > 0 && panel >= left) break; // k has ended
      a.start(to + panel * Tile::panel_bytes(lines));
      b.start(to + panel * Tile::panel_bytes(lines) + Tile::operand_bytes(lines));
      a.advance(1);
      b.advance(1);
    }
    a.advance((groups - 1) * Tile::panels);
    b.advance((groups - 1) * Tile::panels);
    barriers.fill_by_copies(ring);
  }
}

/// A warp's part of a tile: it multiplies panel by panel, while it reads the fragments that come next.
template <class T, class Tile, Along a_along, Along b_along, Lines lines>
class ConsumerWarp {
  static constexpr int steps = depth_bytes / 32;
  static constexpr int sets = Tile::holds_panels ? 2 * steps : 2; ///< of fragments
  static constexpr int panel_bytes = Tile::panel_bytes(lines), stage_bytes = Tile::stage_bytes(lines);
  static_assert(Tile::panels <= 2);

 public:
  /// The warp's part begins at `row` and `column` of the tile.
  __device__ ConsumerWarp(const Product& x, const Work& work, unsigned shared,
                          const Barriers<Tile::most_stages>& barriers, int row, int column, int lane)
      : shared_(shared),
        stages_(x.stages),
        barriers_(barriers),
        a_(x.a, work.row, row, lane),
        b_(x.b, work.column, column, lane),
        lane_(lane) {}

  /// Adds up the products of `left` panels; each `of_segment` panels are one chain.
  __device__ void add_products(int left, int of_segment, WarpSums<Tile>& total) {
    if (left > 0) {
      barriers_.wait_until_full(next_);
#pragma unroll
      for (int step = 0; step < sets / 2; ++step) read(shared_, step, step);
    }
    do {
      sums_.set(0);
      int here = left < of_segment ? left : of_segment; // all segments but the last one have an even number of panels
      left -= here;
      // A branch takes as long as two steps of the chain.
      for (; here >= together && left + here > together; here -= together) {
#pragma unroll
        for (int panel = 0; panel < together; panel += 2) {
          multiply_panel<0, true>(true);
          multiply_panel<1, true>(true);
        }
      }
      for (; here > 1; here -= 2) {
        multiply_panel<0, false>(true);
        multiply_panel<1, false>(left + here > 2);
      }
      if (here > 0) multiply_panel<0, false>(false);
      total.add(sums_);
    } while (left > 0);
  }

 private:
  static constexpr int together = 8; ///< panels between two branches

  /// Multiplies an even panel or an odd one, which have different sets of fragments. `more`: another one follows; where
  /// that is known to be so, `surely`. Where none follows, the warp reads what is there and multiplies none of it,
  /// because a branch around the reads would hold the products up.
  template <int odd, bool surely>
  __device__ void multiply_panel(bool more) {
    constexpr bool begins_stage = Tile::panels == 1 || odd == 0, ends_stage = Tile::panels == 1 || odd == 1;
    if constexpr (begins_stage) {
      stage_ = next_.stage;
      next_.advance(stages_);
      next_is_full_ = barriers_.is_full(next_); // the answer takes a while
    }
    const unsigned panel = shared_ + stage_ * stage_bytes + (begins_stage ? 0 : panel_bytes);
    const auto next_panel = [&] {
      if constexpr (!ends_stage) return panel + panel_bytes;
      if ((surely || more) && !next_is_full_) [[unlikely]]
        barriers_.wait_until_full(next_);
      return shared_ + next_.stage * stage_bytes;
    };
    if constexpr (Tile::holds_panels) {
      constexpr int now = odd * steps, later = steps - now;
      multiply(now); // runs while the warp waits
      const unsigned next = next_panel();
      read(next, 0, later);
#pragma unroll
      for (int step = 1; step < steps; ++step) {
        read(next, step, later + step);
        multiply(now + step);
      }
    } else {
#pragma unroll
      for (int step = 0; step < steps; ++step) {
        if (step + 1 < steps)
          read(panel, step + 1, (step + 1) % 2);
        else
          read(next_panel(), 0, (step + 1) % 2);
        multiply(step % 2);
      }
    }
    if (ends_stage || (!surely && !more)) barriers_.release(stage_, lane_);
  }
  __device__ void read(unsigned panel, int step, int set) {
#pragma unroll
    for (int i = 0; i < Tile::fragments_m; ++i) a_.read(panel, i, step, left_[set][i]);
#pragma unroll
    for (int j = 0; j < Tile::fragments_n / 2; ++j)
      b_.read(panel + Tile::operand_bytes(lines), j, step, right_[set][j]);
  }
  __device__ void multiply(int set) {
#pragma unroll
    for (int i = 0; i < Tile::fragments_m; ++i)
#pragma unroll
      for (int j = 0; j < Tile::fragments_n; ++j) {
        const unsigned(&a)[4] = left_[set][i];
        const unsigned* const b = right_[set][j / 2] + j % 2 * 2;
        multiply_in_warp<T>(sums_.at[i][j], a[0], a[1], a[2], a[3], b[0], b[1]);
      }
  }

  const unsigned shared_;
  const int stages_;
  const Barriers<Tile::most_stages> barriers_;
  const FragmentPlace<T, Tile::side, a_along, lines, false> a_;
  const FragmentPlace<T, Tile::side, b_along, lines, true> b_;
  const int lane_;
  int stage_ = 0;                ///< that is multiplied
  Ring<Tile::most_stages> next_; ///< the stage that follows
  bool next_is_full_ = false;
  WarpSums<Tile> sums_;
  unsigned left_[sets][Tile::fragments_m][4], right_[sets][Tile::fragments_n / 2][4];
};

#endif

/// `T`: the operands' type; float stands for tf32, of which the units take the first 19 bits.
template <class T, class Tile, Along a_along, Along b_along>
__global__ void __launch_bounds__(Tile::threads, Tile::resident) product(const __grid_constant__ Product x) {
#if __CUDA_ARCH__ >= 800
  extern __shared__ __align__(128) char shared[];
  __shared__ typename Barriers<Tile::most_stages>::Memory of_barriers;
  const auto parts = static_cast<unsigned>(x.parts), part = blockIdx.x % parts;
#if __CUDA_ARCH__ >= 900
  __shared__ Arrivals arrivals;
  if (parts > 1) {
    if (part == 0 && threadIdx.x == 0) arrivals.start((x.parts - 1) * Tile::sum_bytes);
    ::cuda::ptx::barrier_cluster_arrive(::cuda::ptx::sem_relaxed);
  }
  // The first block counts arrivals before another block sends.
  const auto wait_for_cluster = [&] {
    if (parts > 1) ::cuda::ptx::barrier_cluster_wait();
  };
#else
  char arrivals;
  const auto wait_for_cluster = [] {};
#endif
  const Barriers<Tile::most_stages> barriers(of_barriers);
  if (threadIdx.x == 0) Barriers<Tile::most_stages>::start(of_barriers, Tile::copiers, Tile::consumers / 32);
  const TilePlace tile = x.order.place(blockIdx.x / parts);
  constexpr Index depth = depth_bytes / sizeof(T);
  const Index begin = part * x.segment, left = x.k - begin;
  const Index here = parts > 1 && x.segment < left ? x.segment : left;
  const Work work{tile.row * Tile::side, tile.col * Tile::side, begin, static_cast<int>(ceil_div(here, depth))};
  const unsigned address = address_of(shared);
  launch_dependents();
  __syncthreads(); // the barriers are there
  const auto with_lines = [&](auto f) {
    if constexpr (sizeof(T) == 4 && Tile::takes_shifted)
      if (!x.a.vectors || !x.b.vectors) return f.template operator()<Lines::Shifted>();
    f.template operator()<Lines::Aligned>();
  };
  if (threadIdx.x >= Tile::consumers) {
    with_lines([&]<Lines lines>() { produce<T, Tile, a_along, b_along, lines>(x, work, address, barriers); });
    wait_for_cluster();
    return;
  }
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int row = warp / Tile::across * Tile::rows, column = warp % Tile::across * Tile::columns;
  WarpSums<Tile> total;
  total.set(-0.0f); // to which the first segment is added without a change
  wait_for_kernel_before();
  with_lines([&]<Lines lines>() {
    ConsumerWarp<T, Tile, a_along, b_along, lines> consumer(x, work, address, barriers, row, column, lane);
    consumer.add_products(work.panels, static_cast<int>(x.segment / depth), total);
  });
  wait_for_cluster();
  if (parts > 1 && !add_parts(x.parts, static_cast<int>(part), total, shared + x.sums_at, &arrivals)) return;
  if constexpr (sizeof(T) == 2) {
    if (x.narrow) return store<T>(x, work.row + row, work.column + column, total, lane);
  }
  store<float>(x, work.row + row, work.column + column, total, lane);
#endif
}

} // namespace tessera::cuda::warp_mma
