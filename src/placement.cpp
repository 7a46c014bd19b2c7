#include "placement.hpp"

#include <tessera/backend.hpp>

namespace tessera {
namespace {

Executor& best_host_executor() {
  static Executor& best = []() -> Executor& {
    for (const Backend backend : {Backend::OpenMP, Backend::Tbb}) try {
        return executor(backend);
      } catch (const BackendUnavailable&) {
      }
    return executor(Backend::Reference);
  }();
  return best;
}

Executor* device_of(std::initializer_list<const detail::Operand*> operands) {
  for (const detail::Operand* operand : operands)
    if (Executor* device = operand->storage->resident_on()) return device;
  return nullptr;
}

/// Multiply-adds from which copying host operands to a device has paid; a placeholder until it is measured per machine.
constexpr double device_threshold = 512.0 * 512.0 * 512.0;

} // namespace

Executor& place_elementwise(std::initializer_list<const detail::Operand*> operands) {
  Executor* device = device_of(operands);
  return device ? *device : best_host_executor();
}

Executor& place_gemm(Backend backend, Index m, Index n, Index k,
                     std::initializer_list<const detail::Operand*> operands) {
  if (backend != Backend::Auto) return executor(backend);
  if (Executor* device = device_of(operands)) return *device;
  const double work = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  return work < device_threshold ? best_host_executor() : executor(Backend::Auto);
}

} // namespace tessera
