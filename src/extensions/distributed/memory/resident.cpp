#include "resident.hpp"

#include <tessera/distributed/distributed.hpp>

namespace tessera::distributed {

using tessera::detail::DistributedStorage;
using tessera::detail::PlacedElements;
using Newest = PlacedElements::Newest;

Status to_host(const DistributedStorage& x, bool writes) noexcept {
  if (x.resident == nullptr) return {};
  PlacedElements& elements = *x.resident;
  if (elements.newest == Newest::Device) {
    const tessera::detail::DeviceRectangle& from = elements.layout;
    if (Status status = elements.executor.copy_out(
            elements.executor.default_queue(), x.data, static_cast<std::size_t>(x.ld) * from.element,
            elements.memory.data(), from.pitch(), static_cast<std::size_t>(from.cols) * from.element,
            static_cast<std::size_t>(from.rows));
        !status.ok())
      return status;
    elements.newest = Newest::Both;
  }
  if (writes) elements.newest = Newest::Host;
  return {};
}

Status to_device(const DistributedStorage& x) noexcept {
  PlacedElements& elements = *x.resident;
  if (elements.newest != Newest::Host) return {};
  const tessera::detail::DeviceRectangle& to = elements.layout;
  Status status =
      elements.executor.copy_in(elements.executor.default_queue(), elements.memory.data(), to.pitch(), x.data,
                                static_cast<std::size_t>(x.ld) * to.element,
                                static_cast<std::size_t>(to.cols) * to.element, static_cast<std::size_t>(to.rows));
  if (status.ok()) elements.newest = Newest::Both;
  return status;
}

void written_on_host(const DistributedStorage& x) noexcept {
  if (x.resident != nullptr) x.resident->newest = Newest::Host;
}
void written_on_device(const DistributedStorage& x) noexcept { x.resident->newest = Newest::Device; }

Elements elements_on_device(const DistributedStorage& x, bool rows_are_outer) noexcept {
  const Index ld = x.resident->layout.ld();
  const bool outer_are_lines = rows_are_outer == (x.order == LocalOrder::RowMajor);
  return {static_cast<char*>(x.resident->memory.data()), outer_are_lines ? ld : 1, outer_are_lines ? 1 : ld};
}

bool stays_on(const DistributedStorage& x, const Executor& executor) noexcept {
  return x.resident != nullptr && &x.resident->executor == &executor;
}

} // namespace tessera::distributed

void tessera::detail::bring_to_host(const DistributedStorage& x, bool writes) {
  throw_if_failed(distributed::to_host(x, writes));
}
