#include "products.hpp"

#include <algorithm>

#include <tessera/backend.hpp>
#include <tessera/complex.hpp>
#include <tessera/detail/floating_point.hpp>

#include "core/placement/placement.hpp"
#include "reference/gemm/without_memory.hpp"
#include "slow_loops.hpp"

namespace tessera::linear_algebra {
namespace {

/// The backend that was named, or the host's best one where its memory is not the host's.
Executor& host_of(Backend backend) {
  if (backend != Backend::Auto)
    if (Executor& named = executor(backend); named.capabilities().host_memory) return named;
  return place_elementwise({});
}

} // namespace

void go_on_or_throw(detail::Shortage shortage) {
  const bool is_written = shortage.is_written != nullptr && *shortage.is_written;
  if (shortage.routine == nullptr && !is_written) throw;
  say_slow_loops_go_on(shortage.routine != nullptr ? shortage.routine : "a result of which a part is written");
}

template <class T>
Products<T>::Products(const SolveOptions& options, detail::Shortage shortage, Math math)
    : options_{.backend = options.backend, .math = math, .threads = options.threads},
      shortage_(shortage),
      host_(host_of(options.backend)),
      is_on_host_(options.backend == Backend::Auto || &host_ == &executor(options.backend)) {}

namespace {

template <class T>
Op op_of(const Factor<T>& x) {
  return x.conjugate ? Op::ConjugateTranspose : x.op;
}

template <class T>
auto product_call(T alpha, Index m, Index n, Index k, const Factor<T>& a, const Factor<T>& b, T beta, Block<T> c) {
  using Call = std::conditional_t<is_complex<T>, ComplexGemmCall, GemmCall>;
  Call call{{.type = dtype_of<Part<T>>,
             .op_a = op_of(a),
             .op_b = op_of(b),
             .m = m,
             .n = n,
             .k = k,
             .alpha = detail::exact_double(alpha),
             .beta = detail::exact_double(beta)}};
  call.a = a.stored.data;
  call.lda = a.stored.ld;
  call.b = b.stored.data;
  call.ldb = b.stored.ld;
  call.c = c.data;
  call.ldc = c.ld;
  return call;
}

Status run_on(Executor& host, const GemmCall& call) noexcept { return host.gemm(host.default_queue(), call); }
Status run_on(Executor& host, const ComplexGemmCall& call) noexcept { return gemm(host, host.default_queue(), call); }

} // namespace

template <class T>
void Products<T>::multiply(T alpha, Index m, Index n, Index k, Factor<T> a, Factor<T> b, T beta, Block<T> c) const {
  if (m == 0 || n == 0) return;
  auto call = product_call(alpha, m, n, k, a, b, beta, c);
  call.math = options_.math;
  call.threads = options_.threads;
  with_or_without_memory(
      shortage_, [&] { detail::gemm_raw(call, options_); },
      [&] {
        // A device's memory may be short where the host's is not.
        if (is_on_host_ || !run_on(host_, call).ok()) host::multiply_without_memory(call);
      });
  begin_result(shortage_);
}

template <class T>
Executor* Products<T>::complete(StoredProductCall& call) const {
  if (!is_on_host_ || options_.math != Math::Strict) return nullptr;
  const Index parts = is_complex<T> ? 2 : 1;
  call.type = dtype_of<Part<T>>;
  call.is_complex = is_complex<T>;
  call.threads = options_.threads;
  Executor& executor = place_gemm(
      options_.backend, {call.type, options_.math, {.m = call.m, .n = parts * call.n, .k = parts * call.k}}, {});
  return executor.capabilities().host_memory ? &executor : nullptr;
}

template <class T>
bool Products<T>::takes_as_stored(const StoredProductCall& call) const {
  StoredProductCall whole = call;
  const Executor* const executor = complete(whole);
  return executor != nullptr && takes_stored_product(*executor, whole);
}

template <class T>
bool Products<T>::multiply_as_stored(const StoredProductCall& call) const {
  StoredProductCall whole = call;
  Executor* const executor = complete(whole);
  if (executor == nullptr || !stored_product(*executor, executor->default_queue(), whole)) return false;
  begin_result(shortage_);
  return true;
}

template <class T>
bool Products<T>::compute_in_tiles(const TriangleTilesCall& call) const {
  if (!is_on_host_) return false;
  TriangleTilesCall whole = call;
  whole.type = dtype_of<Part<T>>;
  whole.is_complex = is_complex<T>;
  whole.threads = options_.threads;
  if (!triangle_in_tiles(host_, whole)) return false;
  begin_result(shortage_);
  return true;
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
void Products<T>::subtract_transposed(Index m, Index n, Index k, Factor<T> a, Factor<T> b, Block<T> c, bool is_lower,
                                      Strips strips) const {
  if (m == 0 || n == 0) return;
  for (Index first = 0; first < m; first += strips.rows) {
    const Index rows = std::min(strips.rows, m - first), cols = is_lower ? std::min(n, first + rows) : n;
    const Block<T> sum{strips.memory, cols};
    sums(rows, cols, k, a.from(first, 0), b, sum);
    constexpr Index at_once = 8; // rows of the memory, so that each line of a sum is read once
    in_parts(cols, 64, [&](Index begin, Index end) {
      for (Index j0 = begin; j0 < end; j0 += at_once)
        for (Index i = is_lower ? std::max(first, j0) : first; i < first + rows; ++i)
          for (Index j = j0; j < std::min({end, j0 + at_once, is_lower ? i + 1 : end}); ++j)
            *c.at(j, i) -= *sum.at(i - first, j);
    });
  }
}

template <class T>
void Products<T>::map(MapCall call) const {
  call.threads = options_.threads;
  throw_if_failed(host_.map(host_.default_queue(), call));
}

template <class T>
void Products<T>::run_parts(RangeCall call) const {
  if (call.count == 0) return;
  call.threads = options_.threads;
  throw_if_failed(host_.run_range(host_.default_queue(), call));
}

template <class T>
void Products<T>::run_steps(const StepsCall& call) const {
  tessera::run_steps(host_, call);
}

template class Products<float>;
template class Products<double>;
template class Products<std::complex<float>>;
template class Products<std::complex<double>>;

} // namespace tessera::linear_algebra
