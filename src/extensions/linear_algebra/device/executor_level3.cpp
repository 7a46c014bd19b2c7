#include <tessera/linear_algebra/executor_level3.hpp>

#include <string>

#include <tessera/backend.hpp>
#include <tessera/status.hpp>

#include "extensions/linear_algebra/enter.hpp"
#include "extensions/linear_algebra/level3/checks.hpp"
#include "level3.hpp"

namespace tessera::detail {
namespace {

/// A matrix in an executor's memory.
template <class T>
linear_algebra::device::Place place_there(const T* data, Index ld) {
  return {reinterpret_cast<char*>(const_cast<T*>(data)), ld, static_cast<Index>(sizeof(T))};
}
template <class T>
linear_algebra::device::Steps steps_there(Executor& executor) {
  constexpr NumberType type = number_type_of<T>;
  return {executor, type.part, type.is_complex};
}
template <class T>
TriangularForm form_of(const TriangularCall<T>& call) {
  return {call.side, call.triangle, call.op, call.diagonal};
}

void expect_steps(const char* function, const Capabilities& facts) {
  if (!facts.has_panels)
    throw KernelRejected(std::string(function) + ": backend " + std::string(to_string(facts.backend)) +
                         " has no steps of factorisations; copy the matrices to host memory, where " + function +
                         " takes a backend");
}

/// Enqueues run(steps, x) for an X that is not empty, or fills it with zeros where alpha is 0.
template <class T, class Run>
void enqueue_with_triangle(const char* function, Executor& executor, const TriangularCall<T>& call, const Run& run) {
  expect_steps(function, executor.capabilities());
  if (call.n == 0 || call.count == 0) return;
  linear_algebra::enter(function, {}, [&] {
    const bool is_left = call.side == Side::Left;
    const Index rows = is_left ? call.n : call.count, cols = is_left ? call.count : call.n;
    const auto steps = steps_there<T>(executor);
    const auto x = place_there(call.b, call.ldb);
    if (call.alpha == T(0)) return steps.fill(rows, cols, 0, x); // and no NaN of B's or T's
    run(steps, rows, cols, x);
  });
}

} // namespace

template <class T>
void triangular_solve_on(Executor& executor, const TriangularCall<T>& call) {
  using namespace linear_algebra::device;
  const Capabilities& facts = executor.capabilities();
  if (facts.host_memory) return triangular_solve(call, {.backend = facts.backend});
  enqueue_with_triangle("trsm", executor, call, [&](const Steps& steps, Index rows, Index cols, Place x) {
    System system(steps, form_of(call), call.n, call.count);
    if (call.alpha != T(1)) steps.scale(rows, cols, exact_double(call.alpha), x, x);
    bool begins = false;
    system.solve(place_there(call.t, call.ldt), x, begins);
  });
}

template <class T>
void triangular_multiply_on(Executor& executor, const TriangularCall<T>& call) {
  using namespace linear_algebra::device;
  const Capabilities& facts = executor.capabilities();
  if (facts.host_memory) return triangular_multiply(call, {.backend = facts.backend});
  enqueue_with_triangle("trmm", executor, call, [&](const Steps& steps, Index, Index, Place x) {
    bool begins = false;
    TriangularProduct(steps, form_of(call), call.n, call.count)
        .run(exact_double(call.alpha), place_there(call.t, call.ldt), x, begins);
  });
}

template <class T>
void rank_update_on(Executor& executor, const RankUpdateCall<T>& call) {
  using namespace linear_algebra::device;
  const Capabilities& facts = executor.capabilities();
  if (facts.host_memory) return rank_update(call, {.backend = facts.backend});
  linear_algebra::check_rank_update(call);
  if (call.n == 0 || linear_algebra::leaves_result(call)) return;
  linear_algebra::enter("syrk", {}, [&] {
    const bool adds = !linear_algebra::adds_nothing(call);
    const auto steps = steps_there<T>(executor);
    bool begins = false;
    RankUpdate(steps, {call.triangle, call.op, Complex<T> && call.is_hermitian, adds && call.has_b}, call.n,
               adds ? call.k : 0)
        .run(exact_double(call.alpha), place_there(call.a, call.lda), place_there(call.b, call.ldb),
             exact_double(call.beta), place_there(call.c, call.ldc), begins);
  });
}

template <class T>
void symmetric_multiply_on(Executor& executor, const SymmetricCall<T>& call) {
  using namespace linear_algebra::device;
  const Capabilities& facts = executor.capabilities();
  if (facts.host_memory) return symmetric_multiply(call, {.backend = facts.backend});
  linear_algebra::check_symmetric(call);
  if (call.m == 0 || call.n == 0) return;
  linear_algebra::enter("symm", {}, [&] {
    const auto steps = steps_there<T>(executor);
    bool begins = false;
    SymmetricProduct(steps, call.side, call.triangle, Complex<T> && call.is_hermitian, call.m, call.n,
                     call.alpha != T(0))
        .run(exact_double(call.alpha), place_there(call.a, call.lda), place_there(call.b, call.ldb),
             exact_double(call.beta), place_there(call.c, call.ldc), begins);
  });
}

#define TESSERA_INSTANTIATE(T)                                               \
  template void triangular_solve_on(Executor&, const TriangularCall<T>&);    \
  template void triangular_multiply_on(Executor&, const TriangularCall<T>&); \
  template void rank_update_on(Executor&, const RankUpdateCall<T>&);         \
  template void symmetric_multiply_on(Executor&, const SymmetricCall<T>&);
TESSERA_INSTANTIATE(float)
TESSERA_INSTANTIATE(double)
TESSERA_INSTANTIATE(std::complex<float>)
TESSERA_INSTANTIATE(std::complex<double>)
#undef TESSERA_INSTANTIATE

} // namespace tessera::detail
