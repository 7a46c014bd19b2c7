#include <tessera/linear_algebra/executor_triangular.hpp>

#include <string>

#include <tessera/backend.hpp>
#include <tessera/status.hpp>

#include "extensions/linear_algebra/enter.hpp"
#include "system.hpp"

namespace tessera::detail {
namespace {

/// A triangle or B in an executor's memory.
template <class T>
linear_algebra::device::Place place_there(const T* data, Index ld) {
  return {reinterpret_cast<char*>(const_cast<T*>(data)), ld, static_cast<Index>(sizeof(T))};
}

template <class T>
void enqueue_system(Executor& executor, const TriangularCall<T>& call) {
  using namespace linear_algebra::device;
  const bool is_left = call.side == Side::Left;
  const Index rows = is_left ? call.n : call.count, cols = is_left ? call.count : call.n;
  const Steps steps(executor, dtype_of<T>);
  const Place x = place_there(call.b, call.ldb);
  if (call.alpha == T(0)) return steps.fill(rows, cols, 0, x); // and no NaN of B's or T's
  const System system(steps, {call.side, call.triangle, call.op, call.diagonal}, call.n, call.count);
  if (call.alpha != T(1)) steps.scale(rows, cols, static_cast<double>(call.alpha), x);
  system.solve(place_there(call.t, call.ldt), x);
}

} // namespace

template <class T>
void triangular_solve_on(Executor& executor, const TriangularCall<T>& call) {
  const Capabilities& facts = executor.capabilities();
  if (facts.host_memory) return triangular_solve(call, {.backend = facts.backend});
  if (!facts.has_panels)
    throw KernelRejected(
        "trsm: backend " + std::string(to_string(facts.backend)) +
        " has no steps of factorisations; copy the matrices to host memory, where trsm takes a backend");
  if (call.n == 0 || call.count == 0) return;
  linear_algebra::enter("trsm", {}, [&] { enqueue_system(executor, call); });
}
template void triangular_solve_on(Executor&, const TriangularCall<float>&);
template void triangular_solve_on(Executor&, const TriangularCall<double>&);

} // namespace tessera::detail
