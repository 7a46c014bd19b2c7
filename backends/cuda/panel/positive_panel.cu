/// A panel of Cholesky's factorisation: the square on the diagonal, and rows below it.
///
/// A thread has a row, whose sums are in registers. Each block of threads factors the square for itself, beside some of
/// the rows below. It takes 16 columns at a time: the warp that has their block on the diagonal factors it, then each
/// thread finishes its row's 16 numbers without waiting for others, and goes on with the sums of the columns right of
/// them. So a block waits twice in 16 columns. The block that reads the square last writes it, when no other one will
/// read it any more.

#include "cuda/device/shared_memory.hpp"
#include "cuda/device/status.hpp"
#include "cuda/queue/stream.hpp"
#include "panel.hpp"

namespace tessera::cuda {
namespace {

constexpr int size = static_cast<int>(most_panel_columns);
constexpr int rows_below = 64; ///< of a block
constexpr int threads = size + rows_below;
constexpr int batch = 32; ///< loads that are in flight at once
constexpr int group = 16; ///< columns that are taken at once

template <class T>
struct PositivePanel {
  T* a;
  Index lda;
  const T* s;
  Index lds;
  Index rows;
  int cols; ///< the rest, up to `size`, is made a unit matrix
  Index first;
  Index* failed; ///< and, after it, how many blocks have read the square
};

template <class T>
struct alignas(16) PositiveShared {
  static constexpr int ld = size + 16 / sizeof(T); ///< rows begin at multiples of 16 bytes
  T a[threads][ld];
  T roots[group];
  bool is_last;
};

/// Reads the panel's rows of this block, the square first, with zeros where there is nothing and ones on the diagonal.
template <class T>
__device__ void fetch(const PositivePanel<T>& p, const T* from, Index ld, Index below, bool are_sums,
                      PositiveShared<T>& shared) {
  constexpr int at_once = threads / size;
  const int col = static_cast<int>(threadIdx.x) % size, begin = static_cast<int>(threadIdx.x) / size;
  for (int base = begin; base < threads; base += at_once * batch) {
    T read[batch];
#pragma unroll
    for (int u = 0; u < batch; ++u) {
      const int r = base + u * at_once;
      const Index row = r < size ? r : below + r - size;
      const bool is_read = col < p.cols && (r < size ? r < p.cols && col <= r : row < p.rows);
      read[u] = is_read ? from[row * ld + col] : static_cast<T>(!are_sums && r == col);
    }
#pragma unroll
    for (int u = 0; u < batch; ++u) shared.a[base + u * at_once][col] = read[u];
  }
}

/// Numbers that lie side by side in shared memory, which one load takes.
template <class T>
struct alignas(16) Vector {
  static constexpr int width = 16 / sizeof(T);
  T number[width];
};

/// Factors the block on the diagonal from row and column `base` on. The warp that has its rows calls it.
template <class T>
__device__ void factor_diagonal(const PositivePanel<T>& p, int base, T (&sums)[size], PositiveShared<T>& shared) {
  const int row = static_cast<int>(threadIdx.x) - base; // of the block, if it is one
#pragma unroll
  for (int g = 0; g < group; ++g) {
    const int j = base + g;
    if (row == g) {
      const T below_root = shared.a[j][j] - sums[g], root = sqrt(below_root);
      if (!(below_root > 0) && blockIdx.x == 0 && j < p.cols && *p.failed < 0) *p.failed = p.first + j;
      shared.roots[g] = shared.a[j][j] = root;
    }
    __syncwarp();
    T l = 0;
    if (row > g && row < group) {
      l = (shared.a[base + row][j] - sums[g]) / shared.roots[g];
      shared.a[base + row][j] = l;
    }
    __syncwarp();
    if (row > g && row < group) {
#pragma unroll
      for (int c = g + 1; c < group; ++c) sums[c] = fma(l, shared.a[base + c][j], sums[c]);
    }
  }
}

/// Computes a row's numbers below the block on the diagonal.
template <class T>
__device__ void finish_row(int base, T (&sums)[size], T (&l)[group], PositiveShared<T>& shared) {
  T* const row = shared.a[threadIdx.x] + base;
#pragma unroll
  for (int g = 0; g < group; ++g) {
    l[g] = (row[g] - sums[g]) / shared.roots[g];
    row[g] = l[g];
#pragma unroll
    for (int c = g + 1; c < group; ++c) sums[c] = fma(l[g], shared.a[base + c][base + g], sums[c]);
  }
}

/// Goes on with the sums of a row's columns right of the block on the diagonal.
template <class T>
__device__ void extend_sums(int base, T (&sums)[size], const T (&l)[group], const PositiveShared<T>& shared) {
  using V = Vector<T>;
#pragma unroll
  for (int c = group; c < size; ++c) {
    if (base + c < size) {
      const V* const other = reinterpret_cast<const V*>(&shared.a[base + c][base]);
#pragma unroll
      for (int v = 0; v < group / V::width; ++v) {
        const V numbers = other[v];
#pragma unroll
        for (int i = 0; i < V::width; ++i) sums[c] = fma(l[v * V::width + i], numbers.number[i], sums[c]);
      }
    }
  }
}

template <class T>
__global__ void __launch_bounds__(threads) factor_positive(PositivePanel<T> p) {
  extern __shared__ __align__(16) unsigned char memory[];
  PositiveShared<T>& shared = *reinterpret_cast<PositiveShared<T>*>(memory);
  const int me = static_cast<int>(threadIdx.x);
  const Index below = p.cols + static_cast<Index>(blockIdx.x) * rows_below;
  fetch(p, p.s, p.lds, below, true, shared);
  __syncthreads();
  T sums[size];
#pragma unroll
  for (int c = 0; c < size; ++c) sums[c] = shared.a[me][c];
  __syncthreads();
  fetch(p, static_cast<const T*>(p.a), p.lda, below, false, shared);
  __syncthreads();
  if (me == 0) {
    shared.is_last = atomicAdd(reinterpret_cast<unsigned long long*>(p.failed + 1), 1ULL) == gridDim.x - 1;
    if (shared.is_last) p.failed[1] = 0;
  }
  for (int base = 0; base < size; base += group) {
    if (me / 32 == base / 32) factor_diagonal(p, base, sums, shared);
    __syncthreads();
    T l[group];
    if (me >= base + group) finish_row(base, sums, l, shared);
    __syncthreads();
    if (me >= base + group) extend_sums(base, sums, l, shared);
#pragma unroll
    for (int c = 0; c < size; ++c) sums[c] = c + group < size ? sums[c + group] : T(0);
  }
  __syncthreads();
  const bool writes_square = shared.is_last;
  for (int i = me; i < threads * size; i += threads) {
    const int r = i / size, c = i % size;
    const Index row = r < size ? r : below + r - size;
    if (c < p.cols && (r < size ? writes_square && r < p.cols && c <= r : row < p.rows))
      p.a[row * p.lda + c] = shared.a[r][c];
  }
}

template <class T>
Status run(Queue& queue, const PanelCall& call) noexcept {
  const cudaStream_t stream = stream_of(queue);
  if (Status status = allow_most_shared(factor_positive<T>, "Cholesky's panel"); !status.ok()) return status;
  const Index below = call.rows - call.cols, blocks = below > rows_below ? (below + rows_below - 1) / rows_below : 1;
  factor_positive<T><<<static_cast<unsigned>(blocks), threads, sizeof(PositiveShared<T>), stream>>>(
      {static_cast<T*>(call.a), call.lda, static_cast<const T*>(call.s), call.lds, call.rows,
       static_cast<int>(call.cols), call.first, call.failed});
  return launched("Cholesky's panel");
}

} // namespace

Status factor_positive_panel(Queue& queue, const PanelCall& call) noexcept {
  return call.type == DType::F32 ? run<float>(queue, call) : run<double>(queue, call);
}

} // namespace tessera::cuda
