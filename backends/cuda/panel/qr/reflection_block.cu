/// What is made of reflections that have been found: V, T, and R without them. Complex V and T are expanded
/// (reflection_number.cuh), and complex matrices are brought to planes and back.

#include "cuda/device/status.hpp"
#include "cuda/elementwise/for_each.cuh"
#include "cuda/panel/panel.hpp"
#include "cuda/queue/stream.hpp"
#include "reflection_number.cuh"

namespace tessera::cuda {
namespace {

constexpr int width = static_cast<int>(most_reflections);
static_assert(width == 32, "a lane of a warp has a row of T");

/// V's number in row i and column j.
template <class T>
__device__ T number_of_v(const T* x, Index ldx, Index i, Index j) {
  return i < j ? T{} : i == j ? real_number<T>(1) : x[i * ldx + j];
}
template <class T>
struct Vectors {
  const T* x;
  Index ldx;
  __device__ T operator()(Index i, Index j) const { return number_of_v(x, ldx, i, j); }
};
/// Two parts side by side, in row i of the expanded V.
template <class T>
struct ExpandedVectors {
  const T* x;
  Index ldx;
  __device__ T operator()(Index i, Index j) const {
    const T number = number_of_v(x, ldx, i / 2, j);
    return i % 2 == 0 ? conjugate_of(number) : T{number.im, number.re};
  }
};

template <class T>
Status vectors_typed(Queue& queue, const PanelCall& call) noexcept {
  constexpr const char* name = "vectors of reflections";
  const auto* const x = static_cast<const T*>(call.x);
  if constexpr (NumberOf<T>::is_complex)
    return for_each<T>(queue, 2 * call.rows, call.cols, call.a, call.lda / 2, ExpandedVectors<T>{x, call.ldx}, name);
  else
    return for_each<T>(queue, call.rows, call.cols, call.a, call.lda, Vectors<T>{x, call.ldx}, name);
}

template <class T>
struct UpperPart {
  const T* a;
  Index lda;
  __device__ T operator()(Index i, Index j) const { return j < i ? T{} : a[i * lda + j]; }
};

template <class T>
Status clear_lower_typed(Queue& queue, const PanelCall& call) noexcept {
  const UpperPart<T> value{static_cast<const T*>(call.a), call.lda};
  return for_each<T>(queue, call.rows, call.cols, call.a, call.lda, value, "clearing a triangle");
}

/// A warp: a lane has a row of T. A complex number of G, which is expanded, is two parts side by side in the first of
/// its rows.
template <class T>
__global__ void __launch_bounds__(width)
    make_triangle(ExpandedPlace<T> t, const T* g, Index ldg, const T* tau, int count) {
  __shared__ T products[width][width], rows[width][width + 1], factors[width];
  const int r = static_cast<int>(threadIdx.x);
#pragma unroll 8
  for (int k = 0; k < width; ++k) products[k][r] = k < r && r < count ? conjugate_of(g[k * ldg + r]) : T{};
  factors[r] = r < count ? tau[r] : T{};
  __syncwarp();
  for (int i = 0; i < count; ++i) {
    T chain{};
    for (int k = 0; k < i; ++k)
      if (r <= k) chain = multiply_add(rows[r][k], products[k][i], chain);
    rows[r][i] = r < i ? multiplied(-factors[i], chain) : r == i ? factors[i] : T{};
  }
  __syncwarp();
  for (int k = 0; k < count; ++k)
    if (r < count) t.write(k, r, rows[k][r]);
}

template <class T>
Status triangle_typed(Queue& queue, const PanelCall& call) noexcept {
  make_triangle<T><<<1, width, 0, stream_of(queue)>>>({static_cast<PartOf<T>*>(call.a), call.lda},
                                                      static_cast<const T*>(call.x), call.ldx,
                                                      static_cast<const T*>(call.tau), static_cast<int>(call.cols));
  return launched("triangle of reflections");
}

constexpr int threads = 256;

/// Writes both planes of numbers that were read once.
template <class T>
__global__ void __launch_bounds__(threads) take_apart(GridStride stride, PlanePlace<T> to, const T* x, Index ldx) {
  const Index first = static_cast<Index>(blockIdx.x) * threads + threadIdx.x;
  if (first >= stride.count) return;
  Walk walk(stride, first);
  for (Index e = first; e < stride.count; e += stride.step, walk.next(stride))
    to.at(walk.row, walk.col).write(x[walk.row * ldx + walk.col]);
}

template <class T>
struct Together {
  const PartOf<T>* x;
  Index ldx;
  __device__ T operator()(Index i, Index j) const { return {x[2 * i * ldx + j], x[(2 * i + 1) * ldx + j]}; }
};

template <class T>
Status into_planes_typed(Queue& queue, const PanelCall& call) noexcept {
  if (call.rows == 0 || call.cols == 0) return {};
  constexpr Index most_blocks = 4096;
  const Index wanted = (call.rows * call.cols + threads - 1) / threads;
  const Index blocks = wanted < most_blocks ? wanted : most_blocks;
  take_apart<T><<<static_cast<unsigned>(blocks), threads, 0, stream_of(queue)>>>(
      GridStride(call.rows, call.cols, blocks * threads), {static_cast<PartOf<T>*>(call.a), call.lda},
      static_cast<const T*>(call.x), call.ldx);
  return launched("planes of complex numbers");
}

template <class T>
Status from_planes_typed(Queue& queue, const PanelCall& call) noexcept {
  return for_each<T>(queue, call.rows, call.cols, call.a, call.lda,
                     Together<T>{static_cast<const PartOf<T>*>(call.x), call.ldx}, "numbers of planes");
}

Status of_complex_alone() { return {StatusCode::Rejected, "complex numbers alone have planes"}; }

} // namespace

Status reflection_vectors(Queue& queue, const PanelCall& call) noexcept {
  return for_number_of(call, [&]<class T>(T) { return vectors_typed<T>(queue, call); });
}
Status reflection_triangle(Queue& queue, const PanelCall& call) noexcept {
  return for_number_of(call, [&]<class T>(T) { return triangle_typed<T>(queue, call); });
}
Status clear_lower(Queue& queue, const PanelCall& call) noexcept {
  return for_number_of(call, [&]<class T>(T) { return clear_lower_typed<T>(queue, call); });
}

Status into_planes(Queue& queue, const PanelCall& call) noexcept {
  if (!call.is_complex) return of_complex_alone();
  return call.type == DType::F32 ? into_planes_typed<Complex<float>>(queue, call)
                                 : into_planes_typed<Complex<double>>(queue, call);
}
Status from_planes(Queue& queue, const PanelCall& call) noexcept {
  if (!call.is_complex) return of_complex_alone();
  return call.type == DType::F32 ? from_planes_typed<Complex<float>>(queue, call)
                                 : from_planes_typed<Complex<double>>(queue, call);
}

} // namespace tessera::cuda
