/// A triangle and many columns of unknowns, which are solved side by side.
///
/// A thread has a column, whose sums are in registers. The triangle lies in shared memory, by columns, and all threads
/// read one number of it at once; other threads fetch it while the columns are read.

#include "cuda/device/shared_memory.hpp"
#include "cuda/device/status.hpp"
#include "cuda/queue/stream.hpp"
#include "panel.hpp"
#include "vectors.cuh"

namespace tessera::cuda {
namespace {

constexpr int size = static_cast<int>(most_panel_columns);
constexpr int columns = 64;
constexpr int threads = columns + size; ///< the latter fetch the triangle
constexpr int batch = 16;               ///< loads that are in flight at once
constexpr int group = 8; ///< unknowns whose code is unrolled; all 64 would be more than a cache of instructions holds

template <class T>
struct Columns {
  T* x;
  Index ldx;
  const T* s;
  Index lds;
  const T* t;
  Index ldt;
  int size; ///< the rest, up to most_panel_columns, is made a unit matrix
  Index count;
};

template <class T>
struct ColumnsShared {
  T triangle[size + 1][size]; ///< column by column; what follows the last one is read, and not used
  T x[size][columns];
};

/// Reads value(i) for i = 0 … size − 1, and passes it to put(i, value).
template <class T, class Value, class Put>
__device__ void fetch(const Value& value, const Put& put) {
  for (int begin = 0; begin < size; begin += batch) {
    T read[batch];
#pragma unroll
    for (int u = 0; u < batch; ++u) read[u] = value(begin + u);
#pragma unroll
    for (int u = 0; u < batch; ++u) put(begin + u, read[u]);
  }
}

template <class T, bool has_unit_diagonal>
__global__ void __launch_bounds__(threads) solve(Columns<T> p) {
  extern __shared__ __align__(16) unsigned char memory[];
  ColumnsShared<T>& shared = *reinterpret_cast<ColumnsShared<T>*>(memory);
  if (const int column = static_cast<int>(threadIdx.x) - columns; column >= 0) {
    fetch<T>(
        [&](int i) {
          const bool is_read = i < p.size && (has_unit_diagonal ? column < i : column <= i);
          return is_read ? p.t[i * p.ldt + column] : static_cast<T>(i == column);
        },
        [&](int i, T value) { shared.triangle[column][i] = value; });
    __syncthreads();
    return;
  }
  const int me = static_cast<int>(threadIdx.x);
  const Index col = static_cast<Index>(blockIdx.x) * columns + me;
  const bool is_one = col < p.count;
  T sums[size];
#pragma unroll
  for (int i = 0; i < size; ++i) sums[i] = is_one && i < p.size ? p.s[i * p.lds + col] : T(0);
  fetch<T>([&](int i) { return is_one && i < p.size ? p.x[i * p.ldx + col] : T(0); },
           [&](int i, T value) { shared.x[i][me] = value; });
  __syncthreads();
  for (int base = 0; base < size; base += group) {
#pragma unroll
    for (int g = 0; g < group; ++g) {
      const int k = base + g;
      T x = shared.x[k][me] - sums[g];
      if constexpr (!has_unit_diagonal) x = x / shared.triangle[k][k];
      if (is_one && k < p.size) p.x[k * p.ldx + col] = x;
      extend_sums(g + 1, sums, x, &shared.triangle[k][base]);
    }
#pragma unroll
    for (int c = 0; c < size; ++c) sums[c] = c + group < size ? sums[c + group] : T(0);
  }
}

template <class T, bool has_unit_diagonal>
Status run(Queue& queue, const PanelCall& call) noexcept {
  const cudaStream_t stream = stream_of(queue);
  const auto kernel = solve<T, has_unit_diagonal>;
  if (Status status = allow_most_shared(kernel, "triangular solution"); !status.ok()) return status;
  kernel<<<static_cast<unsigned>((call.cols + columns - 1) / columns), threads, sizeof(ColumnsShared<T>), stream>>>(
      {static_cast<T*>(call.a), call.lda, static_cast<const T*>(call.s), call.lds, static_cast<const T*>(call.t),
       call.ldt, static_cast<int>(call.rows), call.cols});
  return launched("triangular solution");
}

template <class T>
Status run(Queue& queue, const PanelCall& call) noexcept {
  return call.has_unit_diagonal ? run<T, true>(queue, call) : run<T, false>(queue, call);
}

} // namespace

Status solve_columns(Queue& queue, const PanelCall& call) noexcept {
  return call.type == DType::F32 ? run<float>(queue, call) : run<double>(queue, call);
}

} // namespace tessera::cuda
