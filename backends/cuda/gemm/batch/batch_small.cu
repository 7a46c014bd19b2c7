/// Batches of small products: each warp computes a tile of 16×16 results by itself, so that a block has several
/// products.
///
/// Each lane has 2×4 sums. Sixteen steps of k at a time go through shared memory that belongs to the warp, while the
/// next sixteen are on their way; the only barrier is the warp's. A product of 16×16×16 in f32 reads each element once,
/// 2 KiB for 8192 operations, so that memory decides its time; in general one result costs 2·k operations and reads
/// 2·k/16 elements. 16-bit elements are converted as they are read. Source: the batched kernels of MAGMA and cuBLAS for
/// small matrices.

#include <tessera/half.hpp>

#include "batch_operands.cuh"
#include "cuda/device/status.hpp"
#include "cuda/gemm/common/canonical.cuh"
#include "cuda/gemm/common/grid.cuh"
#include "tile_of_batch.cuh"

namespace tessera::cuda {
namespace {

constexpr int warps = 4;
constexpr int side = 16;  ///< rows and columns of a tile
constexpr int depth = 16; ///< steps of k at a time
constexpr int lane_rows = 2, lane_cols = 4;
constexpr int held = side * depth / 32; ///< elements of an operand's tile that each lane reads

/// The lengths of rows of k in shared memory. They are padded so that elements along either direction fall into
/// different banks, or nearly so, and so that a lane's elements are aligned for one read.
constexpr int a_ld = side + 2, b_ld = side + 4;

/// Copies an operand's elements for a warp's tile. `outer` is the number of rows of A or columns of B. Neighbouring
/// lanes read neighbours in memory.
template <class T>
class WarpLoader {
 public:
  __device__ WarpLoader(const T* data, Index ld, bool along_k, int first, int outer, int k, Scalar<T> padding, int lane)
      : along_k_(along_k),
        across_(lane % side),
        down_(lane / side),
        ld_(ld),
        k_left_(k),
        outer_left_(outer - first < side ? outer - first : side),
        padding_(padding),
        next_(data + (along_k ? static_cast<Index>(first + down_) * ld + across_ : first + down_ * ld + across_)) {}

  /// Reads this lane's elements of the next steps of k.
  __device__ void fetch() {
    const bool inside = across_ < (along_k_ ? k_left_ : outer_left_);
    const int lines = along_k_ ? outer_left_ : k_left_;
    const T* from = next_;
#pragma unroll
    for (int v = 0; v < held; ++v) {
      staged_[v] = inside && down_ + 2 * v < lines ? static_cast<Scalar<T>>(*from) : padding_;
      from += 2 * ld_;
      asm("" : "+l"(from)); // else the compiler keeps all addresses, in twice the registers
    }
    next_ += along_k_ ? depth : depth * ld_;
    k_left_ -= depth;
  }
  template <int ld>
  __device__ void store(Scalar<T> (&tile)[depth][ld]) const {
    Scalar<T>* const to = along_k_ ? &tile[across_][down_] : &tile[down_][across_];
    const int step = along_k_ ? 2 : 2 * ld;
#pragma unroll
    for (int v = 0; v < held; ++v) to[v * step] = staged_[v];
  }

 private:
  bool along_k_;
  int across_, down_;
  Index ld_;
  int k_left_, outer_left_;
  Scalar<T> padding_;
  const T* next_;
  Scalar<T> staged_[held];
};

/// Four neighbours in a row of C.
template <class R>
struct alignas(sizeof(R) == 8 ? 16 : 4 * sizeof(R)) Quad {
  R element[lane_cols];
};

/// Returns alpha·sum + beta·before, rounded to R.
template <class S, class R>
__device__ R result(S sum, S alpha, S beta, const R& before) {
  const S r = alpha * sum;
  return static_cast<R>(beta == S{0} ? r : fused(beta, static_cast<S>(before), r));
}

/// C := alpha·sum + beta·C for a lane's neighbours of one row, which start at `c`, in column j.
template <class T, class R>
__device__ void store_row(const BatchGroup<T, R>& x, R* c, Index j, const Scalar<T> (&sum)[lane_cols]) {
  if (j + lane_cols <= x.n && reinterpret_cast<std::uintptr_t>(c) % alignof(Quad<R>) == 0) {
    Quad<R> quad{};
    if (x.beta != 0) quad = *reinterpret_cast<const Quad<R>*>(c);
#pragma unroll
    for (int e = 0; e < lane_cols; ++e) quad.element[e] = result(sum[e], x.alpha, x.beta, quad.element[e]);
    *reinterpret_cast<Quad<R>*>(c) = quad;
    return;
  }
#pragma unroll
  for (int e = 0; e < lane_cols; ++e)
    if (j + e < x.n) c[e] = result(sum[e], x.alpha, x.beta, x.beta == 0 ? R{} : c[e]);
}

template <class T, class R>
__global__ void __launch_bounds__(32 * warps, sizeof(T) == 8 ? 4 : 6)
    batch_small(const __grid_constant__ BatchGroups<T, R> groups) {
  using S = Scalar<T>;
  __shared__ alignas(16) S a_tiles[warps][depth][a_ld];
  __shared__ alignas(16) S b_tiles[warps][depth][b_ld];
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const unsigned number = blockIdx.x * warps + static_cast<unsigned>(warp);
  if (number >= groups.tiles) return;
  __shared__ FoundProduct<T, R> found[warps];
  TileOfBatch<T, R> here;
  if (!find_tile<false>(groups, number, side, found[warp], here)) return;
  const BatchGroup<T, R>& x = *here.group;
  const unsigned tile = here.tile;
  const auto operands = x.product(here.product);
  const int m = static_cast<int>(x.m), n = static_cast<int>(x.n), k = static_cast<int>(x.k);
  const int i0 = static_cast<int>(tile / x.across) * side, j0 = static_cast<int>(tile % x.across) * side;
  auto& a_tile = a_tiles[warp];
  auto& b_tile = b_tiles[warp];
  WarpLoader<T> a(operands.a, x.lda, !x.transpose_a, i0, m, k, a_padding<S>, lane);
  WarpLoader<T> b(operands.b, x.ldb, x.transpose_b, j0, n, k, b_padding<S>, lane);
  const int row = lane / 4 * lane_rows, col = lane % 4 * lane_cols;
  CanonicalTile<S, lane_rows, lane_cols> sums;
  typename decltype(sums)::Totals totals(k);

  a.fetch();
  b.fetch();
  for (int k0 = 0; k0 < k; k0 += depth) {
    a.store(a_tile);
    b.store(b_tile);
    __syncwarp();
    if (k0 + depth < k) {
      a.fetch();
      b.fetch();
    }
    sums.begin(k0, totals);
#pragma unroll
    for (int p = 0; p < depth; ++p) {
      S of_a[lane_rows], of_b[lane_cols];
#pragma unroll
      for (int r = 0; r < lane_rows; ++r) of_a[r] = a_tile[p][row + r];
#pragma unroll
      for (int c = 0; c < lane_cols; ++c) of_b[c] = b_tile[p][col + c];
      sums.extend(of_a, of_b);
    }
    __syncwarp();
  }
  sums.finish(k, totals);
  if (x.has_epilogue) [[unlikely]] {
    constexpr int width = EpilogueStore<S>::width, across = lane_cols / width;
    S sum[lane_rows * across][width];
#pragma unroll
    for (int e = 0; e < lane_rows * lane_cols; ++e) sum[e / width][e % width] = sums.at(e);
    return epilogue_of(x, operands.c)
        .store(
            [&](int v) -> ResultPlace {
              return {i0 + row + v / across, j0 + col + v % across * width};
            },
            sum);
  }
#pragma unroll
  for (int r = 0; r < lane_rows; ++r) {
    if (i0 + row + r >= m) break;
    S sum[lane_cols];
#pragma unroll
    for (int c = 0; c < lane_cols; ++c) sum[c] = sums.value(r, c);
    store_row(x, operands.c + static_cast<Index>(i0 + row + r) * x.ldc + j0 + col, j0 + col, sum);
  }
}

} // namespace

template <class T, class R>
Status launch_small_batch(cudaStream_t stream, const BatchGroups<T, R>& groups) noexcept {
  static_assert(small_tile<T>.m == side && small_tile<T>.n == side);
  batch_small<T, R><<<ceil_div<unsigned>(groups.tiles, warps), 32 * warps, 0, stream>>>(groups);
  return launched("batch_small");
}

template Status launch_small_batch(cudaStream_t, const BatchGroups<float, float>&) noexcept;
template Status launch_small_batch(cudaStream_t, const BatchGroups<double, double>&) noexcept;
template Status launch_small_batch(cudaStream_t, const BatchGroups<f16, f16>&) noexcept;
template Status launch_small_batch(cudaStream_t, const BatchGroups<f16, float>&) noexcept;
template Status launch_small_batch(cudaStream_t, const BatchGroups<bf16, bf16>&) noexcept;
template Status launch_small_batch(cudaStream_t, const BatchGroups<bf16, float>&) noexcept;

} // namespace tessera::cuda
