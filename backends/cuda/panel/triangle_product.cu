/// A triangle without what is beside it, and the elements of a product that zeros in its place may have changed.
///
/// Zeros before the terms of a chain leave its +0 as it is, and zeros after them change −0 alone, where they meet
/// finite numbers. So what is computed term by term is rare, and one thread does it; the other threads look at a
/// number.

#include "cuda/device/status.hpp"
#include "cuda/elementwise/for_each.cuh"
#include "cuda/elementwise/grid_stride.cuh"
#include "cuda/queue/stream.hpp"
#include "number.cuh"
#include "panel.hpp"

namespace tessera::cuda {
namespace {

template <class T>
struct TriangleOfSquare {
  const T* x;
  Index ldx;
  bool is_upper, has_unit_diagonal;

  __device__ T operator()(Index i, Index j) const {
    if (has_unit_diagonal && i == j) return real_number<T>(1);
    return (is_upper ? j < i : j > i) ? T{} : x[i * ldx + j];
  }
};

template <class T>
struct TermsOfTriangle {
  T* a;
  Index lda;
  const T* x;
  Index ldx;
  const T* t;
  Index row_step, col_step;
  Index n;             ///< of the triangle
  const double* least; ///< of t and of x; null: zeros came first
  bool is_upper, has_unit_diagonal, conjugates, is_on_right;

  /// Returns the chain that goes on with the terms of row `i` of the triangle from `k` to `end`, in line `line` of x.
  __device__ T extended(T chain, Index i, Index k, Index end, Index line) const {
    for (; k < end; ++k) {
      const T m = conjugates ? conjugate_of(t[i * row_step + k * col_step]) : t[i * row_step + k * col_step];
      const T number = x[place(line, k)];
      chain = is_on_right ? multiply_add(number, m, chain) : multiply_add(m, number, chain);
    }
    return chain;
  }
  __device__ T sum(Index i, Index line) const {
    T chain{};
    if (!is_upper) chain = extended(chain, i, 0, has_unit_diagonal ? i : i + 1, line);
    if (has_unit_diagonal) chain = added(chain, x[place(line, i)]);
    if (is_upper) chain = extended(chain, i, has_unit_diagonal ? i + 1 : i, n, line);
    return chain;
  }
  /// May a chain be −0? Products of numbers that are not tiny are multiples of the least subnormal number, so that no
  /// sum of them rounds to 0.
  __device__ bool may_lose_signs() const {
    using P = PartOf<T>;
    if (least == nullptr) return false;
    const double of_triangle = has_unit_diagonal ? fmin(least[0], 1.0) : least[0];
    return of_triangle * least[1] < (sizeof(P) == 4 ? 0x1p-100 : 0x1p-967);
  }

 private:
  __device__ Index place(Index line, Index k) const { return is_on_right ? line * ldx + k : k * ldx + line; }
  template <class P>
  static __device__ P added(P a, P b) {
    return a + b;
  }
  template <class P>
  static __device__ Complex<P> added(const Complex<P>& a, const Complex<P>& b) {
    return {a.re + b.re, a.im + b.im};
  }
};

template <class P>
__device__ bool is_suspect(P z, bool with_zeros) {
  return z != z || (with_zeros && z == P(0));
}
template <class P>
__device__ bool is_suspect(const Complex<P>& z, bool with_zeros) {
  return is_suspect(z.re, with_zeros) || is_suspect(z.im, with_zeros);
}

template <class T>
__global__ void __launch_bounds__(for_each_threads) correct(GridStride stride, TermsOfTriangle<T> p) {
  const Index first = static_cast<Index>(blockIdx.x) * for_each_threads + threadIdx.x;
  if (first >= stride.count) return;
  const bool with_zeros = p.may_lose_signs();
  Walk walk(stride, first);
  for (Index e = first; e < stride.count; e += for_each_unroll * stride.step) {
    Walk again = walk;
    bool any = false;
    T found[for_each_unroll];
#pragma unroll
    for (int u = 0; u < for_each_unroll; ++u) {
      found[u] = e + u * stride.step < stride.count ? p.a[walk.row * p.lda + walk.col] : real_number<T>(1);
      walk.next(stride);
    }
#pragma unroll
    for (int u = 0; u < for_each_unroll; ++u) any |= is_suspect(found[u], with_zeros);
    if (!any) continue;
#pragma unroll 1
    for (int u = 0; u < for_each_unroll && e + u * stride.step < stride.count; ++u, again.next(stride)) {
      T& z = p.a[again.row * p.lda + again.col];
      if (is_suspect(z, with_zeros)) z = p.is_on_right ? p.sum(again.col, again.row) : p.sum(again.row, again.col);
    }
  }
}

/// The magnitudes of finite numbers are in the order of their bits.
template <class P>
__global__ void __launch_bounds__(for_each_threads)
    find_least(GridStride stride, const P* x, Index ldx, unsigned long long* least) {
  __shared__ unsigned long long of_warps[for_each_threads / 32];
  const Index first = static_cast<Index>(blockIdx.x) * for_each_threads + threadIdx.x;
  unsigned long long mine = ~0ULL;
  if (first < stride.count) {
    Walk walk(stride, first);
    for (Index e = first; e < stride.count; e += for_each_unroll * stride.step) {
      P found[for_each_unroll];
#pragma unroll
      for (int u = 0; u < for_each_unroll; ++u) {
        found[u] = e + u * stride.step < stride.count ? x[walk.row * ldx + walk.col] : P(0);
        walk.next(stride);
      }
#pragma unroll
      for (int u = 0; u < for_each_unroll; ++u)
        if (found[u] != P(0))
          mine = min(mine, static_cast<unsigned long long>(__double_as_longlong(fabs(static_cast<double>(found[u])))));
    }
  }
  for (int width = 16; width > 0; width /= 2) mine = min(mine, __shfl_xor_sync(~0U, mine, width));
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = mine;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (const unsigned long long other : of_warps) mine = min(mine, other);
  if (mine != ~0ULL) atomicMin(least, mine);
}

/// Returns how many blocks of for_each_threads threads a matrix of so many elements takes.
Index blocks_for(Index rows, Index cols) {
  const Index wanted = (rows * cols + for_each_threads - 1) / for_each_threads;
  return wanted < for_each_most_blocks ? wanted : for_each_most_blocks;
}

template <class T>
Status correct_typed(Queue& queue, const PanelCall& call) noexcept {
  const TermsOfTriangle<T> terms{.a = static_cast<T*>(call.a),
                                 .lda = call.lda,
                                 .x = static_cast<const T*>(call.x),
                                 .ldx = call.ldx,
                                 .t = static_cast<const T*>(call.t),
                                 .row_step = call.ldt,
                                 .col_step = call.t_step,
                                 .n = call.is_on_right ? call.cols : call.rows,
                                 .least = call.is_upper ? nullptr : call.least,
                                 .is_upper = call.is_upper,
                                 .has_unit_diagonal = call.has_unit_diagonal,
                                 .conjugates = call.conjugates,
                                 .is_on_right = call.is_on_right};
  const Index blocks = blocks_for(call.rows, call.cols);
  correct<T><<<static_cast<unsigned>(blocks), for_each_threads, 0, stream_of(queue)>>>(
      GridStride(call.rows, call.cols, blocks * for_each_threads), terms);
  return launched("terms of a triangle");
}

template <class P>
Status find_least_typed(Queue& queue, const PanelCall& call) noexcept {
  const Index parts = call.is_complex ? 2 : 1, cols = parts * call.cols, blocks = blocks_for(call.rows, cols);
  const cudaStream_t stream = stream_of(queue);
  if (Status status = check(cudaMemsetAsync(call.least, 0xFF, sizeof(double), stream), "least magnitude"); !status.ok())
    return status;
  find_least<P><<<static_cast<unsigned>(blocks), for_each_threads, 0, stream>>>(
      GridStride(call.rows, cols, blocks * for_each_threads), static_cast<const P*>(call.x), parts * call.ldx,
      reinterpret_cast<unsigned long long*>(call.least));
  return launched("least magnitude");
}

} // namespace

Status triangle_alone(Queue& queue, const PanelCall& call) noexcept {
  return for_number_of(call, [&]<class T>(T) {
    return for_each<T>(
        queue, call.rows, call.cols, call.a, call.lda,
        TriangleOfSquare<T>{static_cast<const T*>(call.x), call.ldx, call.is_upper, call.has_unit_diagonal},
        "a triangle alone");
  });
}

Status triangle_terms(Queue& queue, const PanelCall& call) noexcept {
  return for_number_of(call, [&]<class T>(T) { return correct_typed<T>(queue, call); });
}

Status least_magnitude(Queue& queue, const PanelCall& call) noexcept {
  return call.type == DType::F32 ? find_least_typed<float>(queue, call) : find_least_typed<double>(queue, call);
}

} // namespace tessera::cuda
