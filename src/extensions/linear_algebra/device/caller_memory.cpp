/// Factorisations and systems of matrices in the caller's host memory. Where a device is to compute them, they are
/// copied there once, and the results back once. Where it has no steps of factorisations or no memory for them, and
/// for matrices of a single panel, nothing has changed, and the host computes with products anywhere.

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <vector>

#include <tessera/linear_algebra/cholesky.hpp>
#include <tessera/linear_algebra/qr.hpp>

#include "brought.hpp"
#include "extensions/linear_algebra/enter.hpp"
#include "extensions/linear_algebra/on_host.hpp"
#include "reflections.hpp"
#include "system.hpp"

namespace tessera::linear_algebra::device {
namespace {

std::optional<Index> lu_of_callers(const CallersMatrix& a, detail::RowNumbers pivots, const SolveOptions& options) {
  return run_on_device(options, a, [&](const Steps& steps, bool& begins) {
    const Brought brought(steps, a);
    const Elimination elimination(steps, a.m, a.n, brought.place());
    std::vector<Index> rows(static_cast<std::size_t>(std::min(a.m, a.n)));
    brought.bring();
    bool begins_there = false;
    const Index singular = elimination.run(std::span(rows), begins_there);
    begins = true;
    brought.take_back();
    for (std::size_t j = 0; j < rows.size(); ++j) pivots.set(static_cast<Index>(j), rows[j]);
    return singular;
  });
}

/// Says no, too, where the matrix is not positive definite: the host then leaves what it had factored.
bool cholesky_of_callers(Triangle triangle, const CallersMatrix& a, const SolveOptions& options) {
  return run_on_device(options, a,
                       [&](const Steps& steps, bool& begins) {
                         const Brought brought(steps, a);
                         const PositiveFactor factor(steps, a.n, brought.place());
                         brought.bring();
                         bool begins_there = false;
                         if (factor.run(begins_there) >= 0) return false;
                         brought.take_back(triangle, begins);
                         return true;
                       })
      .value_or(false);
}

bool qr_of_callers(const CallersMatrix& a, void* tau, const SolveOptions& options) {
  return run_on_device(options, a,
                       [&](const Steps& steps, bool& begins) {
                         const Index count = std::min(a.m, a.n);
                         const Brought brought(steps, a);
                         const OptionalMatrix factors(steps, true, 1, count);
                         const OrthogonalFactor factor(steps, a.m, a.n, brought.place(), factors.place());
                         brought.bring();
                         bool begins_there = false;
                         static_cast<void>(factor.run(begins_there));
                         begins = true;
                         brought.take_back();
                         steps.fetch(1, count, factors.place(), tau, count);
                         return true;
                       })
      .has_value();
}

/// Solves systems one after another, whose triangles are in one square of memory, and whose unknowns are in one place.
template <class T>
bool solution_of_callers(std::span<const detail::TriangularCall<T>> calls, const SolveOptions& options) {
  const detail::TriangularCall<T>& one = calls.front();
  if (one.count == 0 || one.alpha == T(0)) return false;
  constexpr detail::NumberType type = detail::number_type_of<T>;
  const bool is_left = one.side == Side::Left;
  const Index m = is_left ? one.n : one.count, n = is_left ? one.count : one.n;
  const CallersMatrix t{type.part, Op::None, one.n, one.n, const_cast<T*>(one.t), one.ldt, type.is_complex},
      x{type.part, Op::None, m, n, one.b, one.ldb, type.is_complex}; // t is only read
  return run_on_device(options, t, {one.n, one.count, one.n},
                       [&](const Steps& steps, bool& begins) {
                         const Brought triangle(steps, t), unknowns(steps, x);
                         bool are_brought = false;
                         for (const detail::TriangularCall<T>& call : calls) {
                           System system(steps, {call.side, call.triangle, call.op, call.diagonal}, call.n, call.count);
                           if (!are_brought) {
                             triangle.bring();
                             unknowns.bring();
                           }
                           are_brought = true;
                           if (call.alpha != T(1))
                             steps.scale(x.m, x.n, detail::exact_double(call.alpha), unknowns.place(),
                                         unknowns.place());
                           bool begins_there = false;
                           system.solve(triangle.place(), unknowns.place(), begins_there);
                         }
                         begins = true;
                         unknowns.take_back();
                         return true;
                       })
      .has_value();
}

} // namespace
} // namespace tessera::linear_algebra::device

namespace tessera::detail {

namespace device = linear_algebra::device;

Index factor_lu(NumberType type, Op stored, Index m, Index n, void* a, Index lda, RowNumbers pivots,
                const SolveOptions& options, Shortage shortage) {
  return linear_algebra::enter("Lu", options, [&] {
    if (const auto singular =
            device::lu_of_callers({type.part, stored, m, n, a, lda, type.is_complex}, pivots, options))
      return *singular;
    return linear_algebra::factor_lu_on_host(type, stored, m, n, a, lda, pivots, options, shortage);
  });
}

Index factor_cholesky(NumberType type, Triangle triangle, Index n, void* a, Index lda, const SolveOptions& options,
                      Shortage shortage) {
  return linear_algebra::enter("Cholesky", options, [&] {
    const Op lower = triangle == Triangle::Lower ? Op::None : Op::Transpose; // how the memory holds a lower triangle
    if (device::cholesky_of_callers(triangle, {type.part, lower, n, n, a, lda, type.is_complex}, options)) return n;
    return linear_algebra::factor_cholesky_on_host(type, triangle, n, a, lda, options, shortage);
  });
}

void factor_qr(NumberType type, Op stored, Index m, Index n, void* a, Index lda, void* tau, const SolveOptions& options,
               Shortage shortage) {
  linear_algebra::enter("Qr", options, [&] {
    if (device::qr_of_callers({type.part, stored, m, n, a, lda, type.is_complex}, tau, options)) return;
    linear_algebra::factor_qr_on_host(type, stored, m, n, a, lda, tau, options, shortage);
  });
}

template <class T>
void triangular_solve(const TriangularCall<T>& call, const SolveOptions& options, Shortage shortage) {
  linear_algebra::enter("triangular_solve", options, [&] {
    if (device::solution_of_callers(std::span(&call, 1), options)) return;
    linear_algebra::solve_triangle_on_host(call, options, shortage);
  });
}

template <class T>
void solve_with_factors(const std::array<TriangularCall<T>, 2>& calls, const SolveOptions& options, Shortage shortage) {
  linear_algebra::enter("triangular_solve", options, [&] {
    if (device::solution_of_callers(std::span<const TriangularCall<T>>(calls), options)) return;
    for (const TriangularCall<T>& call : calls) linear_algebra::solve_triangle_on_host(call, options, shortage);
  });
}

#define TESSERA_INSTANTIATE(T)                                                             \
  template void triangular_solve(const TriangularCall<T>&, const SolveOptions&, Shortage); \
  template void solve_with_factors(const std::array<TriangularCall<T>, 2>&, const SolveOptions&, Shortage);
TESSERA_INSTANTIATE(float)
TESSERA_INSTANTIATE(double)
TESSERA_INSTANTIATE(std::complex<float>)
TESSERA_INSTANTIATE(std::complex<double>)
#undef TESSERA_INSTANTIATE

} // namespace tessera::detail
