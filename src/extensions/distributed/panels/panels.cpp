#include "panels.hpp"

#include <algorithm>
#include <cstring>

namespace tessera::distributed {
namespace {

constexpr int tag_of_a = 1, tag_of_b = 2;

/// Returns the slot of three that is neither of two.
std::size_t third_slot(std::size_t x, std::size_t y) noexcept { return 3 - x - y; }

/// Returns how many indices of a window two coordinates of two axes both hold.
Index held_by_both(const Axis& x, int at_x, const Axis& y, int at_y, Window window) {
  Index count = 0;
  for (Index i = window.begin; i < window.end; ++i)
    if (x.owner(i) == at_x && y.owner(i) == at_y) ++count;
  return count;
}

} // namespace

Panels::Panels(const tessera::detail::GridState& grid, bool is_a, const Source& source, const Axis& outer,
               const Segments& segments, tessera::detail::DistributedType type, Executor& executor,
               bool device_messages)
    : grid_(grid),
      along_(is_a ? grid.row.get() : grid.col.get()),
      count_(is_a ? grid.shape.cols : grid.shape.rows),
      stride_(is_a ? 1 : grid.shape.cols),
      source_(source),
      outer_(outer),
      segments_(segments),
      executor_(executor),
      type_(type),
      element_(type.bytes()),
      tag_(is_a ? tag_of_a : tag_of_b) {
  const Axis& inner = source.spread.inner;
  aligned_ =
      same_owners(source.spread.outer, outer) && inner.count == count_ && (count_ == 1 || inner.stride == stride_);
  const bool in_one_piece = count_ == 1 || (aligned_ && inner.block % segments.length == 0);
  k_major_ = source.outer_innermost || !in_one_piece;
  layer_ = grid.layer();
  if (device_messages && count_ > 1) device_.emplace(executor);
  placed_ = grid.has_place() && layer_ < segments.working_layers;
  // An operand that moves, or whose panels have another order, is read on the host.
  if (segments.working_layers > 1 || !aligned_ || source_.conjugated || k_major_ != source_.outer_innermost)
    source_.on_device = {};
  if (placed_) outer_held_ = outer.held(is_a ? grid.row_of_rank() : grid.col_of_rank());
}

Spread Panels::home(int layer, Window window) const noexcept {
  const int base = layer * grid_.layer_size();
  if (aligned_) return {outer_, source_.spread.inner, base};
  const Index block = std::max<Index>(1, (window.size() + count_ - 1) / count_);
  return {outer_, {window.size(), block, 0, count_, stride_, window.begin}, base};
}

std::size_t Panels::panel_bytes() const noexcept {
  return static_cast<std::size_t>(outer_held_ * std::min(segments_.k, segments_.length)) * element_;
}

void Panels::keep(Index steps) noexcept { kept_ = placed_ ? std::min(steps, segments_.of_layer(layer_)) : 1; }

Index Panels::slots() const noexcept {
  if (!placed_ || direct()) return 0;
  if (keeps()) return kept_ + 1; // one of them receives parts that are then put in order
  return device_ ? 3 : 2;        // a device may still read the panel before the one in use
}

std::size_t Panels::sent_bytes(Index step) const noexcept {
  Index elements = 0;
  for (int layer = 0; layer < segments_.working_layers; ++layer)
    if (moves(layer)) elements += elements_held(source_.spread, grid_.world->rank(), segments_.window(layer, step));
  return static_cast<std::size_t>(elements) * element_;
}

std::size_t Panels::most_sent_bytes() const noexcept {
  std::size_t most = 0;
  for (Index step = 0; step < segments_.steps(); ++step) most = std::max(most, sent_bytes(step));
  return most;
}

std::size_t Panels::most_moved_bytes() const noexcept {
  std::size_t most = 0;
  for (Index step = 0; placed_ && moves(layer_) && step < segments_.steps(); ++step) {
    const Window window = own_window(step);
    const Index elements = elements_held(home(layer_, window), grid_.world->rank(), window);
    most = std::max(most, static_cast<std::size_t>(elements) * element_);
  }
  return most;
}

std::size_t Panels::bytes() const noexcept {
  const std::size_t of_panels = device_ ? HostBuffers::rounded(packing_bytes())
                                        : static_cast<std::size_t>(slots()) * HostBuffers::rounded(panel_bytes());
  return of_panels + HostBuffers::rounded(most_sent_bytes()) + HostBuffers::rounded(most_moved_bytes());
}

Status Panels::allocate(HostBuffers& buffers) {
  for (Requests& requests : broadcasting_) // nothing else is allocated while aligned operands are broadcast
    requests.reserve(static_cast<std::size_t>(count_) * requests_of(panel_bytes()));
  allocate_moves();
  if (reads_on_device() && !direct() && !device_)
    if (Status status = executor_.create_queue(staging_); !status.ok()) return status;
  slots_.assign(static_cast<std::size_t>(slots()), nullptr);
  panels_.assign(slots_.size(), {});
  if (Status status = device_ ? allocate_on_device(buffers) : allocate_slots(buffers); !status.ok()) return status;
  if (Status status = buffers.allocate(most_sent_bytes(), send_); !status.ok()) return status;
  return buffers.allocate(most_moved_bytes(), receive_);
}

Status Panels::allocate_slots(HostBuffers& buffers) {
  Executor* const copies = executor_.capabilities().host_memory ? nullptr : &executor_;
  for (char*& slot : slots_)
    if (Status status = buffers.allocate(panel_bytes(), slot, copies); !status.ok()) return status;
  return {};
}

template <class Visit>
void Panels::for_moves(Index step, Visit&& visit) {
  for (int layer = 0; layer < segments_.working_layers; ++layer)
    if (const Window window = segments_.window(layer, step); window.size() > 0 && moves(layer)) visit(layer, window);
}

/// Plans each step once, so that the lists of places have room for all of them.
void Panels::allocate_moves() {
  const int rank = grid_.world->rank();
  std::size_t most = 0;
  for (Index step = 0; step < segments_.steps(); ++step) {
    std::size_t requests = 0;
    for_moves(step, [&](int layer, Window window) {
      departure_.plan(rank, source_.spread, home(layer, window), window, move_kind());
      requests += departure_.requests();
      if (!placed_ || layer != layer_) return;
      arrival_.plan(rank, source_.spread, home(layer, window), window, move_kind());
      requests += arrival_.requests();
    });
    most = std::max(most, requests);
  }
  moving_.reserve(most);
}

Status Panels::begin_move(Index step) {
  const int rank = grid_.world->rank();
  char* buffer = send_;
  Status status;
  for_moves(step, [&](int layer, Window window) {
    if (!status.ok()) return;
    departure_.plan(rank, source_.spread, home(layer, window), window, move_kind());
    status = departure_.begin(*grid_.world, source_.elements, buffer, moving_, traffic_);
    buffer += static_cast<std::size_t>(elements_held(source_.spread, rank, window)) * element_;
  });
  const Window window = own_window(step);
  if (!status.ok() || window.size() == 0 || !moves(layer_)) return status;
  arrival_.plan(rank, source_.spread, home(layer_, window), window, move_kind());
  return arrival_.begin(*grid_.world, receive_, moving_, traffic_);
}

bool Panels::in_order(Window window) const noexcept {
  if (count_ == 1) return true;
  const Axis inner = home(layer_, window).inner;
  return (window.end - 1 - inner.first) / inner.block - (window.begin - inner.first) / inner.block < count_;
}

Elements Panels::own_elements(const Elements& all, Window window, int coordinate) const noexcept {
  Elements from = all;
  from.data +=
      static_cast<std::size_t>(source_.spread.inner.held_before(window.begin, coordinate) * from.inner_step) * element_;
  return from;
}

char* Panels::place_own_part(Window window, char* slot, Index held) const noexcept {
  const Elements target = k_major_ ? Elements{slot, 1, outer_held_} : Elements{slot, held, 1};
  if (moves(layer_)) {
    arrival_.place(source_.elements, target);
  } else {
    const Elements from = own_elements(source_.elements, window, along_->rank());
    const bool side_by_side = from.outer_step == target.outer_step && from.inner_step == target.inner_step;
    if (side_by_side && source_.lasting && !source_.conjugated && held == window.size()) return from.data;
    copy_elements(from, target, outer_held_, held, element_);
  }
  if (source_.conjugated) conjugate(slot, held * outer_held_, type_.part);
  return slot;
}

Status Panels::end_move_and_begin_broadcast(Index step) {
  if (Status status = grid_.world->wait(moving_); !status.ok()) return status;
  const Window window = own_window(step);
  if (window.size() == 0 || direct()) return {};
  const std::size_t turn = static_cast<std::size_t>(step % 2), other = 1 - turn;
  std::size_t& slot = receiving_[turn];
  if (!keeps())
    slot = device_ ? third_slot(current_, previous_) : 1 - (under_way_[other] ? receiving_[other] : current_);
  else
    slot = in_order(window) ? kept_slot(step) : slots_.size() - 1;
  under_way_[turn] = true;
  const Index ld = std::max<Index>(1, k_major_ ? outer_held_ : window.size());
  panels_[slot] = {slots_[slot], ld, k_major_};
  Status status;
  for_roots(window, [&](int root, Index held, Index before) {
    if (!status.ok() || outer_held_ == 0) return;
    char* part = slots_[slot] + static_cast<std::size_t>(before * outer_held_) * element_;
    const std::size_t bytes = static_cast<std::size_t>(held * outer_held_) * element_;
    if (device_) {
      if (root == along_->rank()) put_own_part(window, part, held);
      status = device_->begin_broadcast(*along_, part, bytes, root, traffic_);
      return;
    }
    if (root == along_->rank()) {
      part = reads_on_device() ? stage_own_part(window, part, held) : place_own_part(window, part, held);
      if (held == window.size()) panels_[slot].data = part;
      if (held == window.size() && reads_on_device())
        panels_[slot] = own_panel(source_.on_device, source_.spread.inner.held_before(window.begin, root));
    }
    if (count_ == 1) return;
    ++traffic_.broadcasts;
    (root == along_->rank() ? traffic_.bytes_sent : traffic_.bytes_received) += bytes;
    status = along_->broadcast(part, bytes, root, broadcasting_[turn]);
  });
  return status;
}

Status Panels::end_broadcast(Index step) {
  const Window window = own_window(step);
  if (window.size() == 0 || direct()) return {};
  const std::size_t turn = static_cast<std::size_t>(step % 2);
  if (Status status = device_ ? device_->end_broadcasts(*along_, traffic_) : along_->wait(broadcasting_[turn]);
      !status.ok())
    return status;
  under_way_[turn] = false;
  const std::size_t received = receiving_[turn];
  previous_ = current_;
  if (in_order(window)) {
    current_ = received;
    return {};
  }
  if (device_ && !keeps()) current_ = third_slot(received, current_);
  const std::size_t slot = keeps() ? kept_slot(step) : current_;
  if (device_)
    unpack_on_device(window, slots_[received], slots_[slot]);
  else
    unpack(window, slots_[received], slots_[slot]);
  panels_[slot] = {slots_[slot], std::max<Index>(1, outer_held_), true};
  return {};
}

/// Each root's part is in ascending k; a row of the panel is the next one of the part of its owner.
void Panels::unpack(Window window, const char* from, char* to) const noexcept {
  const Axis inner = home(layer_, window).inner;
  const std::size_t row = static_cast<std::size_t>(outer_held_) * element_;
  if (row == 0) return;
  for_roots(window, [&](int root, Index held, Index before) {
    const Index first = inner.held_before(window.begin, root);
    for (Index place = 0; place < held; ++place)
      std::memcpy(to + static_cast<std::size_t>(inner.global(first + place, root) - window.begin) * row,
                  from + static_cast<std::size_t>(before + place) * row, row);
  });
}

Panel Panels::panel(Index step) const noexcept {
  if (direct()) // all of k is here
    return own_panel(reads_on_device() ? source_.on_device : source_.elements, own_window(step).begin);
  return panels_[keeps() ? kept_slot(step) : current_];
}

bool Panels::can_begin_two() const noexcept {
  if (!placed_ || direct()) return true;
  return aligned_ && !keeps() && !device_ && in_order(own_window(0)) && in_order(own_window(1));
}

bool Panels::has_whole(Index step) const noexcept {
  if (!placed_ || direct()) return true;
  const Window window = own_window(step);
  return source_.spread.inner.held(window.begin, window.end, along_->rank()) == window.size();
}

Status Panels::progress() noexcept {
  bool done = false;
  if (Status status = grid_.world->progress(moving_, done); !status.ok()) return status;
  if (along_ == nullptr) return {};
  for (Requests& requests : broadcasting_)
    if (Status status = along_->progress(requests, done); !status.ok()) return status;
  return device_ ? device_->progress(*along_, traffic_) : Status{};
}

std::uint64_t Panels::bytes_expected() const noexcept {
  const int rank = grid_.world->rank();
  const auto at_source = coordinates_of(source_.spread, rank);
  Index elements = 0;
  for (Index step = 0; placed_ && step < segments_.steps(); ++step) {
    const Window window = own_window(step);
    if (window.size() == 0) continue;
    const Spread spread = home(layer_, window);
    const Coordinates at = *coordinates_of(spread, rank);
    const Index held = spread.inner.held(window.begin, window.end, at.inner);
    elements += (window.size() - held) * outer_held_;
    if (!moves(layer_)) continue;
    elements += held * outer_held_;
    if (at_source)
      elements -= held_by_both(spread.inner, at.inner, source_.spread.inner, at_source->inner, window) *
                  held_by_both(spread.outer, at.outer, source_.spread.outer, at_source->outer,
                               {outer_.first, outer_.first + outer_.size});
  }
  return static_cast<std::uint64_t>(elements) * element_;
}

} // namespace tessera::distributed
