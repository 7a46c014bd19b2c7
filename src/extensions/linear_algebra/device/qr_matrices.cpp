#include "qr_matrices.hpp"

#include <algorithm>

#include "choice.hpp"
#include "reflections.hpp"

namespace tessera::linear_algebra::device {
namespace {

/// Calls work(product, place of C, begins) with products by Q for matrices as wide as C, which takes the results.
template <class Work>
bool with_products(Executor& executor, const detail::Operand& qr, const detail::Operand& tau, const detail::Operand& c,
                   bool discards_c, const Work& work) {
  return unless_refused({&qr, &tau, &c},
                        [&](bool& begins) {
                          const Steps steps(executor, qr.storage->type());
                          detail::DeviceHold holds_qr(qr, executor), holds_tau(tau, executor);
                          const Place factors = steps.place(holds_qr.read());
                          const Place of_tau = steps.place(holds_tau.read());
                          const Place to = steps.place(write_on(c, executor, discards_c));
                          work(OrthogonalProduct(steps, qr.rows, tau.cols, c.cols, factors, of_tau), to, begins);
                          written_on(c, executor);
                          return true;
                        })
      .has_value();
}

} // namespace

std::optional<Index> factor_qr(const detail::Operand& a, const detail::Operand& tau, const SolveOptions& options) {
  Executor* const executor = device_of(options, {a.rows, a.cols, std::min(a.rows, a.cols)}, {&a});
  if (executor == nullptr) return std::nullopt;
  return unless_refused({&a, &tau}, [&](bool& begins) {
    const Steps steps(*executor, a.storage->type());
    const Place place = steps.place(write_on(a, *executor, false));
    const Place factors = steps.place(write_on(tau, *executor, true));
    const Index zero = OrthogonalFactor(steps, a.rows, a.cols, place, factors).run(begins);
    written_on(a, *executor);
    written_on(tau, *executor);
    return zero;
  });
}

bool multiply_q(const detail::Operand& qr, const detail::Operand& tau, bool is_transposed, const detail::Operand& c,
                const SolveOptions& options) {
  Executor* const executor = device_of(options, {c.rows, c.cols, tau.cols}, {&qr, &c});
  if (executor == nullptr) return false;
  return with_products(*executor, qr, tau, c, false, [&](const OrthogonalProduct& q, Place to, bool& begins) {
    q.apply(is_transposed, c.cols, to, begins);
  });
}

bool form_q(const detail::Operand& qr, const detail::Operand& tau, const detail::Operand& q,
            const SolveOptions& options) {
  Executor* const executor = device_of(options, {q.rows, q.cols, q.cols}, {&qr});
  if (executor == nullptr) return false;
  return with_products(*executor, qr, tau, q, true,
                       [](const OrthogonalProduct& product, Place to, bool& begins) { product.form(to, begins); });
}

bool clear_lower(const detail::Operand& a) {
  Executor* const executor = a.storage->newest_on();
  if (executor == nullptr || !executor->capabilities().has_panels) return false;
  return unless_refused(
             {&a},
             [&](bool&) {
               const Steps steps(*executor, a.storage->type());
               const Place place = steps.place(write_on(a, *executor, false));
               steps.panel(
                   {.op = PanelOp::ClearLower, .rows = a.rows, .cols = a.cols, .a = place.data, .lda = place.ld});
               written_on(a, *executor);
               return true;
             })
      .has_value();
}

} // namespace tessera::linear_algebra::device
