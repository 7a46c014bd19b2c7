/// Panels that are broadcast from and into the memory of the executor that multiplies, and operands that stay there.

#include <algorithm>

#include "panels.hpp"

namespace tessera::distributed {

std::size_t Panels::device_bytes() const noexcept {
  return device_ ? DevicePanels::bytes(static_cast<std::size_t>(slots()), panel_bytes()) : 0;
}

Panel Panels::own_panel(const Elements& all, Index place) const noexcept {
  const char* data =
      all.data == nullptr ? nullptr : all.data + static_cast<std::size_t>(place * all.inner_step) * element_;
  return {data, source_.outer_innermost ? all.inner_step : all.outer_step, source_.outer_innermost, reads_on_device()};
}

char* Panels::stage_own_part(Window window, char* slot, Index held) noexcept {
  const Elements from = own_elements(source_.on_device, window, along_->rank());
  const auto bytes = [&](Index elements) { return static_cast<std::size_t>(elements) * element_; };
  const Index lines = k_major_ ? held : outer_held_, length = k_major_ ? outer_held_ : held;
  Status status =
      executor_.copy_out(*staging_, slot, bytes(length), from.data, bytes(k_major_ ? from.inner_step : from.outer_step),
                         bytes(length), static_cast<std::size_t>(lines));
  if (local_failure_.ok()) local_failure_ = std::move(status);
  return slot;
}

std::size_t Panels::packing_bytes() const noexcept {
  if (!placed_ || keeps_order()) return 0;
  Index most = 0;
  for (Index step = 0; step < segments_.steps(); ++step) {
    const Window window = own_window(step);
    if (window.size() > 0)
      most = std::max(most, home(layer_, window).inner.held(window.begin, window.end, along_->rank()));
  }
  return static_cast<std::size_t>(most * outer_held_) * element_;
}

Status Panels::allocate_on_device(HostBuffers& buffers) {
  if (Status status = device_->allocate(slots_.size(), panel_bytes(), count_); !status.ok()) return status;
  for (std::size_t i = 0; i < slots_.size() && panel_bytes() > 0; ++i) slots_[i] = device_->slot(i);
  return buffers.allocate(packing_bytes(), packing_);
}

void Panels::put_own_part(Window window, char* part, Index held) noexcept {
  const auto bytes = [&](Index elements) { return static_cast<std::size_t>(elements) * element_; };
  if (!keeps_order()) {
    const std::size_t all = bytes(held * outer_held_);
    device_->put(part, place_own_part(window, packing_, held), all, all, 1);
    return;
  }
  const bool stays = reads_on_device();
  const Elements from = own_elements(stays ? source_.on_device : source_.elements, window, along_->rank());
  const Index lines = k_major_ ? held : outer_held_, length = k_major_ ? outer_held_ : held;
  const std::size_t pitch = bytes(k_major_ ? from.inner_step : from.outer_step);
  if (stays)
    device_->put_from_device(part, from.data, pitch, bytes(length), static_cast<std::size_t>(lines));
  else
    device_->put(part, from.data, pitch, bytes(length), static_cast<std::size_t>(lines));
}

/// Rows of a panel that one root has sent lie in the panel block by block, a round of all roots apart.
void Panels::unpack_on_device(Window window, const char* from, char* to) noexcept {
  const Axis inner = home(layer_, window).inner;
  const std::size_t row = static_cast<std::size_t>(outer_held_) * element_;
  if (row == 0) return;
  for_roots(window, [&](int root, Index held, Index before) {
    const Index first = inner.held_before(window.begin, root);
    for (Index place = 0, rows = 0; place < held; place += rows) {
      const Index in_block = (first + place) % inner.block, run = std::min(inner.block - in_block, held - place);
      const Index blocks = run == inner.block ? (held - place) / run : 1;
      rows = run * blocks;
      device_->spread(to + static_cast<std::size_t>(inner.global(first + place, root) - window.begin) * row,
                      static_cast<std::size_t>(inner.block * inner.count) * row,
                      from + static_cast<std::size_t>(before + place) * row, static_cast<std::size_t>(run) * row,
                      static_cast<std::size_t>(blocks));
    }
  });
  device_->finish_copies();
}

} // namespace tessera::distributed
