/// Applies a product's epilogue in a separate pass, with the host's bits.

#include <tessera/half.hpp>

#include "elementwise.hpp"
#include "epilogue.cuh"
#include "for_each.cuh"

namespace tessera::cuda {
namespace {

template <class S, class X, class R>
struct WithEpilogue {
  const X* x;
  Index ld;
  S scale;
  Epilogue epilogue;
  __device__ R operator()(Index i, Index j) const {
    const S r = x == nullptr ? S{0} : scale * static_cast<S>(x[i * ld + j]);
    return static_cast<R>(with_epilogue<S, R>(epilogue, i, j, r));
  }
};

template <class S, class X, class R>
Status apply_epilogue_typed(Queue& queue, const FinishCall& call) noexcept {
  const WithEpilogue<S, X, R> value{static_cast<const X*>(call.x), call.ldx, static_cast<S>(call.scale), call.epilogue};
  return for_each<R>(queue, call.rows, call.cols, call.z, call.ldz, value, "epilogue");
}

} // namespace

Status apply_epilogue(Queue& queue, const FinishCall& call) noexcept {
  if (call.type == DType::F64) return apply_epilogue_typed<double, double, double>(queue, call);
  return with_element(call.x_type, [&](auto from) {
    return with_element(call.z_type, [&](auto to) -> Status {
      using X = decltype(from);
      using R = decltype(to);
      if constexpr (std::is_same_v<X, double> || std::is_same_v<R, double>)
        return {StatusCode::InvalidArgument, "epilogue: f32 and f64 do not mix"};
      else
        return apply_epilogue_typed<float, X, R>(queue, call);
    });
  });
}

} // namespace tessera::cuda
