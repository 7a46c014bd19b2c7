#include "matrices.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "level3.hpp"
#include "system.hpp"

namespace tessera::linear_algebra::device {
namespace {

/// Takes the norm of A, and factors it by run(steps, place, begins), which returns where the factorisation fails.
template <class Run>
std::optional<Factored> factored(const Whole& a, bool is_symmetric, const SolveOptions& options, const Run& run) {
  const Index m = a.rows(), n = a.cols();
  Executor* const executor = device_of(options, {m, n, std::min(m, n)}, {&a.parts}, a.is_complex);
  if (executor == nullptr) return std::nullopt;
  return unless_refused({&a.parts}, [&](bool& begins) {
    const Steps steps(*executor, a.type(), a.is_complex);
    const Place place = steps.place(write_on(a.parts, *executor, false));
    const detail::ScaledNumber norm = steps.norm_1(m, n, place, is_symmetric);
    const Index failed = run(steps, place, begins);
    written_on(a.parts, *executor);
    return Factored{failed, norm};
  });
}

/// Calls run(steps, n, count, triangle, x, begins), which changes X.
template <class Run>
bool with_triangle(const detail::TriangularForm& form, const Whole& t, const Whole& x, const SolveOptions& options,
                   const Run& run) {
  const Index n = t.rows(), count = form.side == Side::Left ? x.cols() : x.rows();
  Executor* const executor = device_of(options, {n, count, n}, {&t.parts, &x.parts}, t.is_complex);
  if (executor == nullptr) return false;
  return unless_refused({&t.parts, &x.parts},
                        [&](bool& begins) {
                          const Steps steps(*executor, t.type(), t.is_complex);
                          detail::DeviceHold holds_t(t.parts, *executor);
                          const Place triangle = steps.place(holds_t.read());
                          const Place changed = steps.place(write_on(x.parts, *executor, false));
                          run(steps, n, count, triangle, changed, begins);
                          written_on(x.parts, *executor);
                          return true;
                        })
      .has_value();
}

} // namespace

std::optional<Factored> factor_lu(const Whole& a, std::span<Index> pivots, const SolveOptions& options) {
  return factored(a, false, options, [&](const Steps& steps, Place place, bool& begins) {
    return Elimination(steps, a.rows(), a.cols(), place).run(pivots, begins);
  });
}

std::optional<Factored> factor_cholesky(const Whole& a, const SolveOptions& options) {
  return factored(a, true, options, [&](const Steps& steps, Place place, bool& begins) {
    return PositiveFactor(steps, a.rows(), place).run(begins);
  });
}

bool solve(const detail::TriangularForm& form, const Whole& t, const Whole& x, const SolveOptions& options) {
  return with_triangle(form, t, x, options,
                       [&](const Steps& steps, Index n, Index count, Place triangle, Place unknowns, bool& begins) {
                         System(steps, form, n, count).solve(triangle, unknowns, begins);
                       });
}

bool multiply(const detail::TriangularForm& form, const Whole& t, const Whole& x, const SolveOptions& options) {
  return with_triangle(form, t, x, options,
                       [&](const Steps& steps, Index n, Index count, Place triangle, Place lines, bool& begins) {
                         TriangularProduct(steps, form, n, count).run(1, triangle, lines, begins);
                       });
}

bool exchange_rows(std::span<const Index> pivots, bool ascends, const Whole& x, const SolveOptions& options) {
  const Index m = x.rows(), n = x.cols();
  Executor* const executor = device_of(options, {m, n, m}, {&x.parts}, x.is_complex);
  if (executor == nullptr) return false;
  return unless_refused({&x.parts},
                        [&](bool& begins) {
                          const Steps steps(*executor, x.type(), x.is_complex);
                          const Place place = steps.place(write_on(x.parts, *executor, false));
                          steps.exchange_rows(m, n, place, pivots, ascends);
                          begins = true;
                          written_on(x.parts, *executor);
                          return true;
                        })
      .has_value();
}

} // namespace tessera::linear_algebra::device
