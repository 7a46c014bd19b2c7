#include "qr_matrices.hpp"

#include <algorithm>

#include "choice.hpp"
#include "reflections.hpp"

namespace tessera::linear_algebra::device {
namespace {

/// Calls work(product, begins) with products by Q, whose results C takes.
template <class Work>
bool with_products(Executor& executor, const Whole& qr, const Whole& tau, const Whole& c, bool discards_c,
                   const Work& work) {
  return unless_refused({&qr.parts, &tau.parts, &c.parts},
                        [&](bool& begins) {
                          const Steps steps(executor, qr.type(), qr.is_complex);
                          detail::DeviceHold holds_qr(qr.parts, executor), holds_tau(tau.parts, executor);
                          const Place factors = steps.place(holds_qr.read());
                          const Place of_tau = steps.place(holds_tau.read());
                          const Place to = steps.place(write_on(c.parts, executor, discards_c));
                          work(OrthogonalProduct(steps, qr.rows(), tau.cols(), c.cols(), factors, of_tau, to), begins);
                          written_on(c.parts, executor);
                          return true;
                        })
      .has_value();
}

} // namespace

std::optional<Index> factor_qr(const Whole& a, const Whole& tau, const SolveOptions& options) {
  const Index m = a.rows(), n = a.cols();
  Executor* const executor = device_of(options, {m, n, std::min(m, n)}, {&a.parts}, a.is_complex);
  if (executor == nullptr) return std::nullopt;
  return unless_refused({&a.parts, &tau.parts}, [&](bool& begins) {
    const Steps steps(*executor, a.type(), a.is_complex);
    const Place place = steps.place(write_on(a.parts, *executor, false));
    const Place factors = steps.place(write_on(tau.parts, *executor, true));
    const Index zero = OrthogonalFactor(steps, m, n, place, factors).run(begins);
    written_on(a.parts, *executor);
    written_on(tau.parts, *executor);
    return zero;
  });
}

bool multiply_q(const Whole& qr, const Whole& tau, bool is_transposed, const Whole& c, const SolveOptions& options) {
  Executor* const executor = device_of(options, {c.rows(), c.cols(), tau.cols()}, {&qr.parts, &c.parts}, qr.is_complex);
  if (executor == nullptr) return false;
  return with_products(*executor, qr, tau, c, false,
                       [&](const OrthogonalProduct& q, bool& begins) { q.apply(is_transposed, begins); });
}

bool form_q(const Whole& qr, const Whole& tau, const Whole& q, const SolveOptions& options) {
  Executor* const executor = device_of(options, {q.rows(), q.cols(), q.cols()}, {&qr.parts}, qr.is_complex);
  if (executor == nullptr) return false;
  return with_products(*executor, qr, tau, q, true,
                       [](const OrthogonalProduct& product, bool& begins) { product.form(begins); });
}

bool clear_lower(const Whole& a) {
  Executor* const executor = a.parts.storage->newest_on();
  if (executor == nullptr || !executor->capabilities().has_panels) return false;
  return unless_refused(
             {&a.parts},
             [&](bool&) {
               const Steps steps(*executor, a.type(), a.is_complex);
               const Place place = steps.place(write_on(a.parts, *executor, false));
               steps.panel(
                   {.op = PanelOp::ClearLower, .rows = a.rows(), .cols = a.cols(), .a = place.data, .lda = place.ld});
               written_on(a.parts, *executor);
               return true;
             })
      .has_value();
}

} // namespace tessera::linear_algebra::device
