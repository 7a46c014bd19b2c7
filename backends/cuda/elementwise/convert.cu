/// Conversions between element types. Each element is rounded at most once and has the reference's bits.

#include <tessera/half.hpp>

#include "elementwise.hpp"
#include "for_each.cuh"

namespace tessera::cuda {
namespace {

template <class X, class Z>
struct Converted {
  const X* x;
  Index ld;
  __device__ Z operator()(Index i, Index j) const { return static_cast<Z>(static_cast<Scalar<X>>(x[i * ld + j])); }
};

} // namespace

Status convert(Queue& queue, const MapCall& call) noexcept {
  return with_element(call.x_type, [&](auto from) {
    return with_element(call.type, [&](auto to) {
      using X = decltype(from);
      using Z = decltype(to);
      const Converted<X, Z> value{static_cast<const X*>(call.x), call.ldx};
      return for_each<Z>(queue, call.rows, call.cols, call.z, call.ldz, value, "convert");
    });
  });
}

} // namespace tessera::cuda
