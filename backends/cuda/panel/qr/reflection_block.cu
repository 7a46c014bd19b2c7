/// What is made of reflections that have been found: V, T, and R without them.

#include "cuda/device/status.hpp"
#include "cuda/elementwise/for_each.cuh"
#include "cuda/panel/panel.hpp"
#include "cuda/queue/stream.hpp"

namespace tessera::cuda {
namespace {

constexpr int width = static_cast<int>(most_reflections);
static_assert(width == 32, "a lane of a warp has a row of T");

template <class T>
struct Vectors {
  const T* x;
  Index ldx;
  __device__ T operator()(Index i, Index j) const { return i < j ? T(0) : i == j ? T(1) : x[i * ldx + j]; }
};

template <class T>
Status vectors_typed(Queue& queue, const PanelCall& call) noexcept {
  const Vectors<T> value{static_cast<const T*>(call.x), call.ldx};
  return for_each<T>(queue, call.rows, call.cols, call.a, call.lda, value, "vectors of reflections");
}

template <class T>
struct UpperPart {
  const T* a;
  Index lda;
  __device__ T operator()(Index i, Index j) const { return j < i ? T(0) : a[i * lda + j]; }
};

template <class T>
Status clear_lower_typed(Queue& queue, const PanelCall& call) noexcept {
  const UpperPart<T> value{static_cast<const T*>(call.a), call.lda};
  return for_each<T>(queue, call.rows, call.cols, call.a, call.lda, value, "clearing a triangle");
}

/// A warp: a lane has a row of T.
template <class T>
__global__ void __launch_bounds__(width)
    make_triangle(T* t, Index ldt, const T* g, Index ldg, const T* tau, int count) {
  __shared__ T products[width][width], rows[width][width + 1], factors[width];
  const int r = static_cast<int>(threadIdx.x);
#pragma unroll 8
  for (int k = 0; k < width; ++k) products[k][r] = k < r && r < count ? g[k * ldg + r] : T(0);
  factors[r] = r < count ? tau[r] : T(0);
  __syncwarp();
  for (int i = 0; i < count; ++i) {
    T chain = 0;
    for (int k = 0; k < i; ++k)
      if (r <= k) chain = fma(rows[r][k], products[k][i], chain);
    rows[r][i] = r < i ? -factors[i] * chain : r == i ? factors[i] : T(0);
  }
  __syncwarp();
  for (int k = 0; k < count; ++k)
    if (r < count) t[k * ldt + r] = rows[k][r];
}

template <class T>
Status triangle_typed(Queue& queue, const PanelCall& call) noexcept {
  make_triangle<T><<<1, width, 0, stream_of(queue)>>>(static_cast<T*>(call.a), call.lda, static_cast<const T*>(call.x),
                                                      call.ldx, static_cast<const T*>(call.tau),
                                                      static_cast<int>(call.cols));
  return launched("triangle of reflections");
}

} // namespace

Status reflection_vectors(Queue& queue, const PanelCall& call) noexcept {
  return call.type == DType::F32 ? vectors_typed<float>(queue, call) : vectors_typed<double>(queue, call);
}
Status reflection_triangle(Queue& queue, const PanelCall& call) noexcept {
  return call.type == DType::F32 ? triangle_typed<float>(queue, call) : triangle_typed<double>(queue, call);
}

Status clear_lower(Queue& queue, const PanelCall& call) noexcept {
  return call.type == DType::F32 ? clear_lower_typed<float>(queue, call) : clear_lower_typed<double>(queue, call);
}

} // namespace tessera::cuda
