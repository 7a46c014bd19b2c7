/// The operations of MapCall that compute each element independently of the others. They round where the reference
/// rounds.

#include <tessera/half.hpp>

#include "elementwise.hpp"
#include "for_each.cuh"

namespace tessera::cuda {
namespace {

/// Reads an element in the type that is computed in.
template <class T>
struct Source {
  const T* data;
  Index ld;
  __device__ Scalar<T> operator()(Index i, Index j) const { return data[i * ld + j]; }
};

template <class T>
struct Constant {
  Scalar<T> alpha;
  __device__ T operator()(Index, Index) const { return static_cast<T>(alpha); }
};

template <class T>
struct Diagonal {
  Scalar<T> alpha;
  __device__ T operator()(Index i, Index j) const { return static_cast<T>(i == j ? alpha : Scalar<T>{0}); }
};

template <class T>
struct Scaled {
  Scalar<T> alpha;
  Source<T> x;
  __device__ T operator()(Index i, Index j) const { return static_cast<T>(alpha * x(i, j)); }
};

template <class T>
struct Combined {
  Scalar<T> alpha;
  Source<T> x;
  Scalar<T> beta;
  Source<T> y;
  __device__ T operator()(Index i, Index j) const { return static_cast<T>(fma(beta, y(i, j), alpha * x(i, j))); }
};

template <class T>
struct Product {
  Source<T> x;
  Source<T> y;
  __device__ T operator()(Index i, Index j) const { return static_cast<T>(x(i, j) * y(i, j)); }
};

template <class T>
Status map_typed(Queue& queue, const MapCall& call) noexcept {
  const auto alpha = static_cast<Scalar<T>>(call.alpha);
  const auto beta = static_cast<Scalar<T>>(call.beta);
  const Source<T> x{static_cast<const T*>(call.x), call.ldx};
  const Source<T> y{static_cast<const T*>(call.y), call.ldy};
  const auto run = [&](auto value, const char* name) {
    return for_each<T>(queue, call.rows, call.cols, call.z, call.ldz, value, name);
  };
  switch (call.op) {
    case MapOp::Fill:
      return run(Constant<T>{alpha}, "fill");
    case MapOp::Identity:
      return run(Diagonal<T>{alpha}, "identity");
    case MapOp::Scale:
      return run(Scaled<T>{alpha, x}, "scale");
    case MapOp::Axpby:
      return run(Combined<T>{alpha, x, beta, y}, "axpby");
    case MapOp::Multiply:
      return run(Product<T>{x, y}, "multiply");
    case MapOp::Transpose:
      return transpose(queue, call);
    case MapOp::Convert:
      return convert(queue, call);
    case MapOp::ExpandComplex:
    case MapOp::CopyComplex:
    case MapOp::CombineComplex:
      return map_complex(queue, call);
  }
  return {StatusCode::InvalidArgument, "unknown element-wise operation"};
}

} // namespace

Status map(Queue& queue, const MapCall& call) noexcept {
  return with_element(call.type, [&](auto zero) { return map_typed<decltype(zero)>(queue, call); });
}

} // namespace tessera::cuda
