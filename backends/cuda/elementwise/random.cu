/// Random fills. Every element comes from its own Philox block and has the same bits on every backend; see random.hpp.

#include <tessera/random.hpp>

#include "elementwise.hpp"
#include "for_each.cuh"

namespace tessera::cuda {
namespace {

template <class T>
struct RandomElement {
  Distribution distribution;
  std::uint64_t seed;
  Index cols;
  Scalar<T> low;
  Scalar<T> high;
  __device__ T operator()(Index i, Index j) const {
    return random_element<T>(distribution, seed, static_cast<std::uint64_t>(i * cols + j), low, high);
  }
};

template <class T>
Status random_typed(Queue& queue, const RandomCall& call) noexcept {
  const RandomElement<T> value{call.distribution, call.seed, call.cols, static_cast<Scalar<T>>(call.low),
                               static_cast<Scalar<T>>(call.high)};
  return for_each<T>(queue, call.rows, call.cols, call.z, call.ldz, value, "random fill");
}

} // namespace

Status random(Queue& queue, const RandomCall& call) noexcept {
  return with_element(call.type, [&](auto zero) { return random_typed<decltype(zero)>(queue, call); });
}

} // namespace tessera::cuda
