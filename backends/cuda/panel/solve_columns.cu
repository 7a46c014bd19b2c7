/// A triangle and many columns of unknowns, which are solved side by side.
///
/// A thread has a column, whose sums are in registers. The triangle lies in shared memory, by columns, and all threads
/// read one number of it at once; other threads, the helpers, fetch the right-hand sides meanwhile and compute the
/// reciprocals of the diagonal. Unknowns are found in groups of 8: first these, one after another, then their terms in
/// all sums that remain.

#include "async_copy.cuh"
#include "cuda/device/shared_memory.hpp"
#include "cuda/device/status.hpp"
#include "cuda/queue/stream.hpp"
#include "panel.hpp"
#include "rounded.cuh"
#include "vectors.cuh"

namespace tessera::cuda {
namespace {

constexpr int size = static_cast<int>(most_panel_columns);
constexpr int columns = 64;
constexpr int threads = columns + size; ///< the latter are helpers
constexpr int group = 8;

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
  static constexpr int padding = 16 / sizeof(T);
  alignas(16) T triangle[size][size + padding]; ///< column by column
  T reciprocal[size];                           ///< of the diagonal
  T x[size][columns];
};

/// Finds a group of unknowns from b and the sums before. Where `is_checked`, says whether all are rounded as the
/// operator rounds them; else uses the operator.
template <bool has_unit_diagonal, bool is_checked, class T>
__device__ __forceinline__ bool solve_group(const ColumnsShared<T>& shared, int base, const T (&b)[group],
                                            const T (&before)[size], T (&x)[group]) {
  bool is_right = true;
  T sums[group];
#pragma unroll
  for (int c = 0; c < group; ++c) sums[c] = before[c];
#pragma unroll
  for (int c = 0; c < group; ++c) {
    T column[group];
    read_vectors(column, &shared.triangle[base + c][base]);
    const T y = b[c] - sums[c];
    if constexpr (has_unit_diagonal) {
      x[c] = y;
    } else if constexpr (is_checked) {
      x[c] = quotient(y, Divisor<T>{column[c], shared.reciprocal[base + c]});
      is_right &= is_moderate(column[c]) & is_quotient(y, x[c], column[c]);
    } else {
      x[c] = y / column[c];
    }
#pragma unroll
    for (int i = c + 1; i < group; ++i) sums[i] = fma(column[i], x[c], sums[i]);
  }
  return is_right;
}

template <class T, bool has_unit_diagonal>
__global__ void __launch_bounds__(threads) solve(Columns<T> p) {
  extern __shared__ __align__(16) unsigned char memory[];
  ColumnsShared<T>& shared = *reinterpret_cast<ColumnsShared<T>*>(memory);
  const bool is_helper = threadIdx.x >= columns;
  const int me = static_cast<int>(threadIdx.x) % columns;
  const Index col = static_cast<Index>(blockIdx.x) * columns + me;
  const bool is_one = col < p.count;
  constexpr int at_once = threads / size;
#pragma unroll 4
  for (int i = is_helper ? 1 : 0; i < size; i += at_once) {
    const bool is_read = i < p.size && (has_unit_diagonal ? me < i : me <= i);
    copy_async(&shared.triangle[me][i], is_read ? p.t + i * p.ldt + me : p.t, is_read);
  }
  T sums[size];
  if (is_helper) {
#pragma unroll 4
    for (int i = 0; i < size; ++i) {
      const bool is_read = is_one && i < p.size;
      copy_async(&shared.x[i][me], is_read ? p.x + i * p.ldx + col : p.x, is_read);
    }
  } else {
#pragma unroll
    for (int i = 0; i < size; ++i) sums[i] = is_one && i < p.size ? p.s[i * p.lds + col] : T(0);
  }
  wait_for_copies();
  __syncthreads();
  if (!has_unit_diagonal) {
    if (is_helper) {
      if (me >= p.size) shared.triangle[me][me] = 1;
      shared.reciprocal[me] = T(1) / shared.triangle[me][me];
    }
    __syncthreads();
  }
  if (is_helper) return;
#pragma unroll 1
  for (int base = 0; base < size; base += group) {
    T b[group], x[group];
#pragma unroll
    for (int c = 0; c < group; ++c) b[c] = shared.x[base + c][me];
    if (!solve_group<has_unit_diagonal, true>(shared, base, b, sums, x))
      solve_group<has_unit_diagonal, false>(shared, base, b, sums, x);
#pragma unroll
    for (int c = 0; c < group; ++c) {
      if (is_one && base + c < p.size) p.x[(base + c) * p.ldx + col] = x[c];
      if (base + group < size) extend_sums(group, sums, x[c], &shared.triangle[base + c][base]);
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
