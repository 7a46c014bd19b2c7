/// Systems whose matrices are on a device already.

#include <algorithm>
#include <memory>
#include <vector>

#include <tessera/backend/panel.hpp>
#include <tessera/backend/small_systems.hpp>
#include <tessera/status.hpp>

#include "device_systems.hpp"
#include "extensions/linear_algebra/device/choice.hpp"
#include "extensions/linear_algebra/device/steps.hpp"

namespace tessera::linear_algebra {
namespace {

/// The matrices of a list on the device: their places, and one distance of rows.
class ListOnDevice {
 public:
  /// Says no where rows of the matrices lie differently far apart.
  bool add(detail::Placed placed) {
    if (pointers_.empty()) ld_ = placed.ld;
    pointers_.push_back(placed.data);
    return placed.ld == ld_;
  }
  Index ld() const { return ld_; }
  std::span<void* const> pointers() const { return pointers_; }

 private:
  std::vector<void*> pointers_;
  Index ld_ = 0;
};

/// `begins` becomes true when X is written.
std::vector<Index> solve_on(Executor& device, std::span<const detail::Operand> a, std::span<const detail::Operand> x,
                            bool are_complex, bool& begins) {
  std::vector<std::unique_ptr<detail::DeviceHold>> holds;
  const device::Steps steps(device, a[0].storage->type(), are_complex);
  const auto count = static_cast<Index>(a.size());
  ListOnDevice of_a, of_x;
  for (std::size_t i = 0; i < a.size(); ++i) {
    holds.push_back(std::make_unique<detail::DeviceHold>(a[i], device));
    if (!of_a.add(holds.back()->read()) || !of_x.add(write_on(x[i], device, false)))
      throw KernelRejected("rows of the matrices lie differently far apart");
  }
  const device::DeviceArray pointers(device, 2 * count * static_cast<Index>(sizeof(void*))),
      numbers = steps.numbers(count);
  steps.write(pointers.as<void*>(), of_a.pointers());
  steps.write(pointers.as<void*>() + count, of_x.pointers());
  const SystemsCall call{.task = SystemsTask::Solve,
                         .columns = x[0].cols / steps.parts(),
                         .count = count,
                         .lda = of_a.ld() / steps.parts(),
                         .all_a = pointers.as<void*>(),
                         .ldb = of_x.ld() / steps.parts(),
                         .all_b = pointers.as<void*>() + count,
                         .info = numbers.as<Index>()};
  steps.panel({.op = PanelOp::SmallSystems, .rows = a[0].rows, .cols = a[0].cols / steps.parts(), .systems = &call});
  begins = true;
  for (const detail::Operand& one : x) written_on(one, device);
  std::vector<Index> info(a.size());
  steps.read(std::span(info), numbers.as<const Index>());
  return info;
}

} // namespace

std::optional<std::vector<Index>> solve_where_they_are(std::span<const detail::Operand> a,
                                                       std::span<const detail::Operand> x, bool are_complex,
                                                       const SolveOptions& options) {
  const Index n = a[0].rows, columns = x[0].cols / (are_complex ? 2 : 1);
  if (n == 0 || columns == 0 || a[0].storage->resident_on() == nullptr) return std::nullopt;
  Executor* const device = device::device_of(options, {n, columns, n}, {a.data(), x.data()}, are_complex);
  if (device == nullptr || device->capabilities().host_memory) return std::nullopt;
  const auto is_there = [&](const detail::Operand& one) { return one.storage->resident_on() == device; };
  if (!std::ranges::all_of(a, is_there) || !std::ranges::all_of(x, is_there)) return std::nullopt;
  return device::unless_refused({}, [&](bool& begins) { return solve_on(*device, a, x, are_complex, begins); });
}

} // namespace tessera::linear_algebra
