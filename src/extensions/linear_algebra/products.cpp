#include "products.hpp"

#include <algorithm>

#include <tessera/backend.hpp>

#include "core/placement/placement.hpp"

namespace tessera::linear_algebra {
namespace {

/// The backend that was named, or the host's best one where its memory is not the host's.
Executor& host_of(Backend backend) {
  if (backend != Backend::Auto)
    if (Executor& named = executor(backend); named.capabilities().host_memory) return named;
  return place_elementwise({});
}

} // namespace

template <class T>
Products<T>::Products(const SolveOptions& options)
    : options_{.backend = options.backend, .threads = options.threads}, host_(host_of(options.backend)) {}

template <class T>
void Products<T>::multiply(double alpha, Index m, Index n, Index k, Factor<T> a, Factor<T> b, double beta,
                           Block<T> c) const {
  if (m == 0 || n == 0) return;
  GemmCall call{
      {.type = dtype_of<T>, .op_a = a.op, .op_b = b.op, .m = m, .n = n, .k = k, .alpha = alpha, .beta = beta}};
  call.a = a.stored.data;
  call.lda = a.stored.ld;
  call.b = b.stored.data;
  call.ldb = b.stored.ld;
  call.c = c.data;
  call.ldc = c.ld;
  call.threads = options_.threads;
  detail::gemm_raw(call, options_);
}

template <class T>
void Products<T>::sums(Index m, Index n, Index k, Factor<T> a, Factor<T> b, Block<T> s) const {
  if (k > 0) return multiply(1, m, n, k, a, b, 0, s);
  for (Index i = 0; i < m; ++i) std::fill(s.at(i, 0), s.at(i, n), T(0));
}

template <class T>
void Products<T>::subtract(Index m, Index n, Index k, Factor<T> a, Factor<T> b, Block<T> c) const {
  multiply(-1, m, n, k, a, b, 1, c);
}

template <class T>
void Products<T>::run_parts(RangeCall call) const {
  if (call.count == 0) return;
  call.threads = options_.threads;
  throw_if_failed(host_.run_range(host_.default_queue(), call));
}

template class Products<float>;
template class Products<double>;

} // namespace tessera::linear_algebra
