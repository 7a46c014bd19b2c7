#include <tessera/linear_algebra/executor_level3.hpp>

#include <algorithm>
#include <string>

#include <tessera/backend.hpp>
#include <tessera/status.hpp>

#include "extensions/linear_algebra/enter.hpp"
#include "extensions/linear_algebra/level3/checks.hpp"
#include "system.hpp"
#include "triangle_copy.hpp"

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
  System system(steps, {call.side, call.triangle, call.op, call.diagonal}, call.n, call.count);
  if (call.alpha != T(1)) steps.scale(rows, cols, static_cast<double>(call.alpha), x, x);
  bool begins = false;
  system.solve(place_there(call.t, call.ldt), x, begins);
}

/// Products of whole columns of blocks, in a matrix of their own, of which one triangle goes to C. What else is
/// computed there is not looked at.
template <class T>
void enqueue_update(Executor& executor, const RankUpdateCall<T>& call) {
  using namespace linear_algebra::device;
  constexpr Index width = 1024; // no bit depends on it
  const Steps steps(executor, dtype_of<T>);
  const Index n = call.n, k = call.alpha == T(0) ? 0 : call.k;
  const Place a = place_there(call.a, call.lda), c = place_there(call.c, call.ldc);
  const bool is_turned = call.op != Op::None;
  const OptionalMatrix memory(steps, true, n, n);
  const Place sums = memory.place();
  const auto rows_of_a = [&](Index row) { return is_turned ? a.at(0, row) : a.at(row, 0); };
  if (call.beta != T(0)) steps.scale(n, n, 1, c, sums);
  for (Index first = 0; first < n; first += width) {
    const Index end = std::min(n, first + width);
    const bool is_lower = call.triangle == Triangle::Lower;
    const Index row = is_lower ? first : 0, rows = is_lower ? n - first : end;
    steps.multiply({.m = rows, .n = end - first, .k = k}, static_cast<double>(call.alpha), rows_of_a(row), call.op,
                   rows_of_a(first), is_turned ? Op::None : Op::Transpose, static_cast<double>(call.beta),
                   sums.at(row, first));
  }
  copy_triangle(steps, call.triangle, n, sums, c);
}

/// A is written out: one triangle as it is, the other one from the transpose.
template <class T>
void enqueue_symmetric(Executor& executor, const SymmetricCall<T>& call) {
  using namespace linear_algebra::device;
  const Steps steps(executor, dtype_of<T>);
  const bool is_left = call.side == Side::Left, reads = call.alpha != T(0);
  const Index order = is_left ? call.m : call.n, k = reads ? order : 0;
  const Place a = place_there(call.a, call.lda), b = place_there(call.b, call.ldb), c = place_there(call.c, call.ldc);
  const OptionalMatrix whole(steps, reads, order, order), transposed(steps, reads, order, order);
  if (reads) {
    steps.scale(order, order, 1, a, whole.place());
    steps.transpose(order, order, a, transposed.place());
    copy_triangle(steps, call.triangle == Triangle::Lower ? Triangle::Upper : Triangle::Lower, order,
                  transposed.place(), whole.place());
  }
  const Place square = reads ? whole.place() : b; // without terms, of which no number is read
  steps.multiply({.m = call.m, .n = call.n, .k = k}, static_cast<double>(call.alpha), is_left ? square : b, Op::None,
                 is_left ? b : square, Op::None, static_cast<double>(call.beta), c);
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

template <class T>
void rank_update_on(Executor& executor, const RankUpdateCall<T>& call) {
  const Capabilities& facts = executor.capabilities();
  if (facts.host_memory) return rank_update(call, {.backend = facts.backend});
  linear_algebra::check_rank_update(call);
  const bool adds_nothing = call.k == 0 || call.alpha == T(0);
  if (call.n == 0 || (adds_nothing && call.beta == T(1))) return;
  linear_algebra::enter("syrk", {}, [&] { enqueue_update(executor, call); });
}
template void rank_update_on(Executor&, const RankUpdateCall<float>&);
template void rank_update_on(Executor&, const RankUpdateCall<double>&);

template <class T>
void symmetric_multiply_on(Executor& executor, const SymmetricCall<T>& call) {
  const Capabilities& facts = executor.capabilities();
  if (facts.host_memory) return symmetric_multiply(call, {.backend = facts.backend});
  linear_algebra::check_symmetric(call);
  if (call.m == 0 || call.n == 0) return;
  linear_algebra::enter("symm", {}, [&] { enqueue_symmetric(executor, call); });
}
template void symmetric_multiply_on(Executor&, const SymmetricCall<float>&);
template void symmetric_multiply_on(Executor&, const SymmetricCall<double>&);

} // namespace tessera::detail
