#include "matrices.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "choice.hpp"
#include "system.hpp"

namespace tessera::linear_algebra::device {
namespace {

/// Takes the norm of A, and factors it by run(steps, place, begins), which returns where the factorisation fails.
template <class Run>
std::optional<Factored> factored(const detail::Operand& a, bool is_symmetric, const SolveOptions& options,
                                 const Run& run) {
  Executor* const executor = device_of(options, {a.rows, a.cols, std::min(a.rows, a.cols)}, {&a});
  if (executor == nullptr) return std::nullopt;
  return unless_refused({&a}, [&](bool& begins) {
    const Steps steps(*executor, a.storage->type());
    const Place place = steps.place(write_on(a, *executor, false));
    const detail::ScaledNumber norm = steps.norm_1(a.rows, a.cols, place, is_symmetric);
    const Index failed = run(steps, place, begins);
    written_on(a, *executor);
    return Factored{failed, norm};
  });
}

} // namespace

std::optional<Factored> factor_lu(const detail::Operand& a, std::span<Index> pivots, const SolveOptions& options) {
  return factored(a, false, options, [&](const Steps& steps, Place place, bool& begins) {
    return Elimination(steps, a.rows, a.cols, place).run(pivots, begins);
  });
}

std::optional<Factored> factor_cholesky(const detail::Operand& a, const SolveOptions& options) {
  return factored(a, true, options, [&](const Steps& steps, Place place, bool& begins) {
    const PositiveFactor factor(steps, a.rows, place);
    begins = true;
    return factor.run();
  });
}

bool solve(const detail::TriangularForm& form, const detail::Operand& t, const detail::Operand& x,
           const SolveOptions& options) {
  const Index n = t.rows, count = form.side == Side::Left ? x.cols : x.rows;
  Executor* const executor = device_of(options, {n, count, n}, {&t, &x});
  if (executor == nullptr) return false;
  return unless_refused({&t, &x},
                        [&](bool& begins) {
                          const Steps steps(*executor, t.storage->type());
                          detail::DeviceHold holds_t(t, *executor);
                          const Place triangle = steps.place(holds_t.read());
                          const Place unknowns = steps.place(write_on(x, *executor, false));
                          const System system(steps, form, n, count);
                          begins = true;
                          system.solve(triangle, unknowns);
                          written_on(x, *executor);
                          return true;
                        })
      .has_value();
}

bool exchange_rows(std::span<const Index> pivots, bool ascends, const detail::Operand& x, const SolveOptions& options) {
  Executor* const executor = device_of(options, {x.rows, x.cols, x.rows}, {&x});
  if (executor == nullptr) return false;
  return unless_refused({&x},
                        [&](bool& begins) {
                          const Steps steps(*executor, x.storage->type());
                          Place place = steps.place(write_on(x, *executor, false));
                          std::vector<Index> ordered(pivots.begin(), pivots.end());
                          if (!ascends) { // in descending order, rows are counted from the last
                            const Index last = x.rows - 1;
                            for (std::size_t j = 0; j < pivots.size(); ++j)
                              ordered[pivots.size() - 1 - j] = last - pivots[j];
                            place = place.at(last, 0);
                            place.ld = -place.ld;
                          }
                          const DeviceArray numbers = steps.numbers(static_cast<Index>(ordered.size()));
                          steps.write(numbers.as<Index>(), std::span<const Index>(ordered));
                          begins = true;
                          steps.exchange_rows(x.rows, x.cols, place, numbers, static_cast<Index>(ordered.size()));
                          written_on(x, *executor);
                          return true;
                        })
      .has_value();
}

} // namespace tessera::linear_algebra::device
