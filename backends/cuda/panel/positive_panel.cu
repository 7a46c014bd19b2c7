/// A panel of Cholesky's factorisation: the square on the diagonal, and rows below it.
///
/// A thread has a row, whose sums are in registers. Each block of threads factors the square for itself, beside some of
/// the rows below, which are treated alike. A column costs a root, a division, one multiply-add for each column right
/// of it, and two barriers. While threads wait for the root and the barriers, the multiply-adds of the column before
/// run. The block that reads the square last writes it, when no other one will read it any more.

#include "cuda/device/shared_memory.hpp"
#include "cuda/device/status.hpp"
#include "cuda/queue/stream.hpp"
#include "panel.hpp"
#include "vectors.cuh"

namespace tessera::cuda {
namespace {

constexpr int size = static_cast<int>(most_panel_columns);
constexpr int rows_below = 64; ///< of a block
constexpr int threads = size + rows_below;
constexpr int batch = 32; ///< loads that are in flight at once
constexpr int group = 8;  ///< columns whose code is unrolled; all 64 would be more than a cache of instructions holds

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
struct PositiveShared {
  T a[threads][size + 1];
  alignas(16) T column[2][2 * size]; ///< zeros after the numbers
  T below_root;
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

template <class T>
__global__ void __launch_bounds__(threads) factor_positive(PositivePanel<T> p) {
  extern __shared__ __align__(16) unsigned char memory[];
  PositiveShared<T>& shared = *reinterpret_cast<PositiveShared<T>*>(memory);
  const int me = static_cast<int>(threadIdx.x);
  const Index below = p.cols + static_cast<Index>(blockIdx.x) * rows_below;
  fetch(p, p.s, p.lds, below, true, shared);
  for (int i = me; i < 2 * size; i += threads) shared.column[0][i] = shared.column[1][i] = 0;
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
    shared.below_root = shared.a[0][0] - sums[0];
  }
  __syncthreads();
  T l = 0;
  const T* column = nullptr; // the one before
  for (int base = 0; base < size; base += group) {
#pragma unroll
    for (int g = 0; g < group; ++g) {
      const int j = base + g;
      const T below_root = shared.below_root, root = sqrt(below_root);
      if (me == j && blockIdx.x == 0 && j < p.cols && !(below_root > 0) && *p.failed < 0) *p.failed = p.first + j;
      if (g > 0 || base > 0) extend_sums(g + 1, sums, l, column + base);
      l = me == j ? root : (shared.a[me][j] - sums[g]) / root;
      if (me >= j) shared.a[me][j] = l;
      T* const here = shared.column[j & 1];
      if (me < size) here[me] = l;
      column = here;
      __syncthreads();
      if (g + 1 < group || j + 1 < size) { // the next column's sums at once, because its root waits for one
        sums[g + 1] = fma(l, column[j + 1], sums[g + 1]);
        if (me == j + 1) shared.below_root = shared.a[me][me] - sums[g + 1];
      }
      __syncthreads();
    }
    if (base + group < size) {
#pragma unroll
      for (int c = 0; c < size; ++c) sums[c] = c + group < size ? sums[c + group] : T(0);
    }
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
