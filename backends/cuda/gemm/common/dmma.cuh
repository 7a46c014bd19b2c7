#pragma once

/// Hopper's double-precision matrix instruction, and how the fragments of a warp lie in shared memory and in C. dmma,
/// stream_k, slender and batches use it. Source: PTX ISA, "mma.m16n8k16 with .f64".

#include "async_loader.cuh"
#include "grid.cuh"
#include "ring.cuh"
#include "stores/staged_store.cuh"
#include "stores/whole_store.cuh"

namespace tessera::cuda::dmma_tiling {

constexpr int fragment_m = 16, fragment_n = 8, depth = 16; ///< sizes of one instruction
constexpr int padding = 4; ///< rows are 4 modulo 16 elements long, so that 4×4 neighbours lie in 16 different banks

/// A tile in shared memory, laid out as its operand is in global memory.
template <int outer, int block_k, Along along>
struct alignas(32) StoredTile {
  static constexpr int lines = along == Along::K ? outer : block_k;
  static constexpr int ld = (along == Along::K ? block_k : outer) + padding;
  double at[lines][ld];

  __device__ double operator()(int i, int p) const { return along == Along::K ? at[i][p] : at[p][i]; }
};

/// d += A·B for a fragment of 16×8 results. Each lane has four results, in rows g and g + 8 and columns 2t and 2t + 1,
/// with g = lane / 4 and t = lane % 4. It passes the rows g and g + 8 of A and the column g of B, both at every fourth
/// k from t on.
__device__ inline void multiply([[maybe_unused]] double& d0, [[maybe_unused]] double& d1, [[maybe_unused]] double& d2,
                                [[maybe_unused]] double& d3, [[maybe_unused]] const double (&a)[8],
                                [[maybe_unused]] const double (&b)[4]) {
#if __CUDA_ARCH__ >= 900 // earlier devices are rejected
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64.rn {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, "
      "{%12, %13, %14, %15}, {%0, %1, %2, %3};"
      : "+d"(d0), "+d"(d1), "+d"(d2), "+d"(d3)
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]), "d"(b[0]), "d"(b[1]),
        "d"(b[2]), "d"(b[3]));
#endif
}

/// The shape of a block of warps_m×warps_n warps, each with down×across fragments of results.
template <int down_, int across_, int warps_m, int warps_n, int block_k_>
struct Shape {
  static constexpr int down = down_, across = across_;
  static constexpr int warp_m = down * fragment_m, warp_n = across * fragment_n;
  static constexpr int block_m = warps_m * warp_m, block_n = warps_n * warp_n, block_k = block_k_;
  static constexpr int threads = 32 * warps_m * warps_n, warps_across = warps_n;
  static_assert(down == 1 ? across == 2 : down % 2 == 0 && across > 1);

  template <Along a_along, Along b_along>
  struct Stage {
    StoredTile<block_m, block_k, a_along> a;
    StoredTile<block_n, block_k, b_along> b;
  };

  /// A lane's results: for each fragment, the four that multiply() names.
  using Sums = CanonicalTile<double, down * across, 4>;

  /// Where a lane's elements begin in the block's tile: row of A, column of B, and t = lane % 4.
  struct Place {
    int row, col, t;
    __device__ explicit Place(int thread)
        : row(thread / 32 / warps_n * warp_m + thread % 32 / 4),
          col(thread / 32 % warps_n * warp_n + thread % 32 / 4),
          t(thread % 4) {}
  };

  /// Loads a lane's elements of fragment i of A, from step p on.
  template <class S>
  __device__ static void load_a(double (&to)[8], int i, const S& stage, const Place& place, int p) {
#pragma unroll
    for (int e = 0; e < 8; ++e) to[e] = stage.a(place.row + i * fragment_m + e % 2 * 8, p + place.t + e / 2 * 4);
  }
  /// Loads a lane's elements of fragment j of B, from step p on.
  template <class S>
  __device__ static void load_b(double (&to)[4], int j, const S& stage, const Place& place, int p) {
#pragma unroll
    for (int e = 0; e < 4; ++e) to[e] = stage.b(place.col + j * fragment_n, p + place.t + e * 4);
  }

  /// A lane's elements of two fragments of A, the current one and the next one, and of all fragments of B that the warp
  /// has.
  struct Fragment {
    double a[2][8], b[across][4];

    template <class S>
    __device__ void load_a(int i, const S& stage, const Place& place, int p) {
      Shape::load_a(a[i % 2], i, stage, place, p);
    }
    template <class S>
    __device__ void load_b(int j, const S& stage, const Place& place, int p) {
      Shape::load_b(b[j], j, stage, place, p);
    }
    /// Loads the elements that step() expects to be in registers.
    template <class S>
    __device__ void load(const S& stage, const Place& place) {
      load_a(0, stage, place, 0);
#pragma unroll
      for (int j = 0; j + 1 < across; ++j) load_b(j, stage, place, 0);
    }
  };

  /// Multiplies the stage's operands from step p on. Towards its end it calls ahead(), which returns the place of the
  /// next operands once they are in shared memory, and loads their first fragments. Operands are loaded into registers
  /// that the instruction before the last one has read, so that the matrix units have two instructions to execute while
  /// a warp waits.
  template <class S, class GetAhead>
  __device__ static void step(Sums& sums, Fragment& f, const S& stage, const Place& place, int p, GetAhead ahead) {
    Ahead<S> later{};
#pragma unroll
    for (int i = 0; i < down; ++i)
#pragma unroll
      for (int j = 0; j < across; ++j) {
        const int s = i * across + j;
        multiply(sums.at(s, 0), sums.at(s, 1), sums.at(s, 2), sums.at(s, 3), f.a[i % 2], f.b[j]);
        if (i == 0 && j == 0) f.load_b(across - 1, stage, place, p);
        if (j == 1 && i + 1 < down) f.load_a(i + 1, stage, place, p);
        if (i + 1 < down || j == 0) continue;
        if (j == 1) {
          later = ahead();
          f.load_a(0, *later.stage, place, later.p);
        }
        f.load_b(j - 1, *later.stage, place, later.p);
      }
  }

  /// Returns the place of pair v of a lane's results in C, relative to the lane's first result.
  static constexpr __host__ __device__ ResultPlace place_of(int v) {
    const int fragment = v / 2;
    return {fragment / across * fragment_m + v % 2 * 8, fragment % across * fragment_n};
  }

  /// Stores a lane's results through the epilogue; the first one is C(row, col). It is not inlined, for the reasons
  /// that warp_tiling::store_with_epilogue gives.
  __device__ __noinline__ static void store_with_epilogue(EpilogueStore<double> epilogue, const double* held, Index row,
                                                          Index col) {
    store_held<Sums::count, 4, 2>(epilogue, held, [&](int v) -> ResultPlace {
      return {row + place_of(v).row, col + place_of(v).col};
    });
  }

  /// Stores a lane's results of the tile of C that starts at (row, col).
  template <bool with_epilogue>
  __device__ static void store(const VectorOperands<double>& x, Index row, Index col, const Place& place,
                               const Sums& sums, typename Sums::Totals& totals) {
    const Index i = row + place.row, j = col + place.col / warp_n * warp_n + place.t * 2;
    if constexpr (with_epilogue)
      store_with_epilogue(x.epilogue, held_in(totals, sums), i, j);
    else
      store_whole<2>(x, i, j, sums, totals, [](int v) { return place_of(v); });
  }
};

/// A warp's results for store_staged(): half of the rows of a fragment's upper or lower half in a round, so that the
/// largest stages leave room for them.
template <class S>
struct StagedResults {
  static constexpr int rounds = S::down * 4, rows = 4, columns = S::warp_n;

  __device__ static int row_of(int round, int row) { return round / 4 * fragment_m + round % 4 * rows + row; }
  template <class F>
  __device__ static void put(int round, int lane, F f) {
    if (lane / 16 != round % 2) return;
#pragma unroll
    for (int j = 0; j < S::across; ++j)
      f(lane / 4 % rows, j * fragment_n + lane % 4 * 2, (round / 4 * S::across + j) * 4 + round % 4 / 2 * 2);
  }
};

/// Stores the results of the calling warp by way of shared memory; the block's tile begins at C(row, col).
template <class S>
__device__ void store_by_rows(const StridedOperands<double>& x, Index row, Index col, const typename S::Sums& sums) {
  using G = StagedResults<S>;
  __shared__ StagedRows<double, G> staged[S::threads / 32];
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  store_staged<G>(x, row + warp / S::warps_across * S::warp_m, col + warp % S::warps_across * S::warp_n, sums, lane,
                  staged[warp]);
}

/// Shape S with registers for two whole steps, so that the loads of a lone warp, and its wait for a stage, are over
/// before the matrix units have executed their instructions.
template <class S>
struct StepAhead : S {
  using typename S::Place;
  using typename S::Sums;

  struct Step {
    double a[S::down][8], b[S::across][4];
  };
  struct Fragment {
    Step steps[2]; ///< elements of the current step and of the next one

    template <class Stage>
    __device__ void load(int step, const Stage& stage, const Place& place, int p) {
      Step& to = steps[step];
#pragma unroll
      for (int i = 0; i < S::down; ++i) S::load_a(to.a[i], i, stage, place, p);
#pragma unroll
      for (int j = 0; j < S::across; ++j) S::load_b(to.b[j], j, stage, place, p);
    }
    template <class Stage>
    __device__ void load(const Stage& stage, const Place& place) {
      load(0, stage, place, 0);
    }
  };

  template <class Stage, class GetAhead>
  __device__ static void step(Sums& sums, Fragment& f, const Stage&, const Place& place, int p, GetAhead ahead) {
    const int now = p / depth % 2;
#pragma unroll
    for (int s = 0; s < S::down * S::across; ++s) {
      const Step& of = f.steps[now];
      multiply(sums.at(s, 0), sums.at(s, 1), sums.at(s, 2), sums.at(s, 3), of.a[s / S::across], of.b[s % S::across]);
      if (s > 0) continue;
      const Ahead<Stage> later = ahead();
      f.load(1 - now, *later.stage, place, later.p);
    }
  }
};

/// Computes the tile of C at `origin` through a ring of `stages` stages. All S::threads threads of the block call it.
template <class S, int stages, bool with_epilogue, Along a_along, Along b_along>
__device__ void multiply_tile(const VectorOperands<double>& x, const TileOrigin& origin,
                              typename S::template Stage<a_along, b_along>* stage) {
  static_assert(S::block_k == depth);
  const int thread = static_cast<int>(threadIdx.x);
  const typename S::Place place(thread);
  AsyncTileLoader<double, S::block_m, S::block_k, S::threads, a_along, false> a(slice_a(x, a_along, origin.row),
                                                                                thread);
  AsyncTileLoader<double, S::block_n, S::block_k, S::threads, b_along, false> b(slice_b(x, b_along, origin.col),
                                                                                thread);
  typename S::Sums sums;
  typename S::Sums::Totals totals(x.k);

  // A commit without copies keeps the number of stages in flight constant until the end.
  const auto start = [&](Index k0, int to) {
    if (k0 < x.k) {
      a.copy(k0, stage[to].a.at);
      b.copy(k0, stage[to].b.at);
    }
    __pipeline_commit();
  };
#pragma unroll
  for (int s = 0; s + 1 < stages; ++s) start(s * S::block_k, s);
  __pipeline_wait_prior(stages - 2);
  __syncthreads();
  typename S::Fragment fragment;
  fragment.load(stage[0], place);
  int current = 0;
  int free = stages - 1; // the threads that read it last have passed the barrier
  for (Index k0 = 0; k0 < x.k; k0 += S::block_k) {
    start(k0 + (stages - 1) * S::block_k, free);
    free = current;
    sums.begin(k0, totals);
    S::step(sums, fragment, stage[current], place, 0, [&] {
      __pipeline_wait_prior(stages - 2);
      __syncthreads();
      current = current + 1 == stages ? 0 : current + 1;
      return Ahead<typename S::template Stage<a_along, b_along>>{&stage[current], 0};
    });
  }
  sums.finish(x.k, totals);
  S::template store<with_epilogue>(x, origin.row, origin.col, place, sums, totals);
}

} // namespace tessera::cuda::dmma_tiling
