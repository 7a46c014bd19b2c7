#pragma once

/// The panels of one operand: for each segment of k, the part that this rank multiplies. An operand is seen as
/// outer×k, so that B is read as its transpose: `outer` counts rows of op(A), or columns of op(B).
///
/// A panel takes up to two steps. If the operand does not lie as C needs it, or the rank is on another layer, the
/// elements of the segment move to the ranks that will broadcast them. Then each of these ranks broadcasts its part
/// along the process row (A) or the process column (B), from the operand's own memory where it lies side by side there.
/// A panel that one rank has whole keeps the order of the operand's memory. While a panel is multiplied, the next one
/// is broadcast, and the elements of the one after it move.
///
/// Panels that are broadcast may be in the memory of the executor that multiplies. Elements that move go through the
/// host's memory all the same. An operand may stay in that memory, too. Then a panel that is not broadcast is read
/// where it is. A part that is broadcast is copied to the host once, and the rank that has a whole panel reads its own
/// copy.

#include <optional>
#include <vector>

#include "device_panels.hpp"
#include "extensions/distributed/grid_state.hpp"
#include "extensions/distributed/memory/host_buffers.hpp"
#include "extensions/distributed/move.hpp"
#include "extensions/distributed/segments.hpp"

namespace tessera::distributed {

/// An operand as the caller has it, on layer 0.
struct Source {
  Spread spread;           ///< outer: rows of op(A) or columns of op(B); inner: k
  Elements elements;       ///< of this rank
  bool outer_innermost;    ///< the order of the memory, on all ranks
  bool conjugated = false; ///< the product takes the conjugates of the elements
  bool lasting = false;    ///< the memory is the library's, which can keep it where MPI goes on reading it
  Elements on_device = {}; ///< the elements in the memory of the executor that multiplies; null if they are not there
};

/// A panel, outer×k.
struct Panel {
  const char* data = nullptr;
  Index ld = 1;
  bool k_major = true;    ///< rows of the memory are k, else outer indices
  bool on_device = false; ///< it lies in the memory of the executor that multiplies
};

class Panels {
 public:
  /// `outer` is C's axis of rows for A, of columns for B. `executor` multiplies. If its memory is not the host's,
  /// panels are in host memory that it copies from without waiting; or in its own memory if they are broadcast from and
  /// into it.
  Panels(const tessera::detail::GridState& grid, bool is_a, const Source& source, const Axis& outer,
         const Segments& segments, tessera::detail::DistributedType type, Executor& executor, bool device_messages);

  /// Keeps the panels of the last `steps` steps whose broadcasts began, for several passes over them; 1: the panel in
  /// use alone, while the next one comes. Must be called before allocate().
  void keep(Index steps) noexcept;

  /// Returns how many bytes of the host's memory allocate() allocates, and of the device's.
  std::size_t bytes() const noexcept;
  std::size_t device_bytes() const noexcept;
  /// Are all panels in the device's memory?
  bool on_device() const noexcept { return device_.has_value() || (direct() && reads_on_device()); }
  /// Is the operand read in the device's memory, where it stays? Else it is read on the host.
  bool reads_on_device() const noexcept { return source_.on_device.data != nullptr; }
  Status allocate(HostBuffers& buffers);

  /// Each step is one segment of every layer. The functions are called for all steps, on all ranks with elements.
  Status begin_move(Index step);
  Status end_move_and_begin_broadcast(Index step);
  Status end_broadcast(Index step);
  /// Returns the panel of a step whose broadcast ended.
  Panel panel(Index step) const noexcept;
  /// May the broadcasts of the first two steps be under way at once?
  bool can_begin_two() const noexcept;
  /// Has this rank the whole panel of a step before it is broadcast?
  bool has_whole(Index step) const noexcept;
  /// Is a panel put in order when its broadcast has ended, in the place of the panel in use?
  bool unpacks(Index step) const noexcept {
    const Window window = own_window(step);
    return window.size() > 0 && !direct() && !in_order(window);
  }
  /// Are transfers under way?
  bool pending() const noexcept {
    return !moving_.empty() || !broadcasting_[0].empty() || !broadcasting_[1].empty() ||
           (device_ && device_->pending());
  }
  /// Lets MPI go on with the transfers.
  Status progress() noexcept;

  /// Returns what failed on this rank while transfers went on.
  Status local_failure() const { return device_ && local_failure_.ok() ? device_->failure() : local_failure_; }
  /// Leaves a device's memory to the process for good.
  void abandon() noexcept {
    if (device_) device_->abandon();
  }

  const Traffic& traffic() const noexcept { return traffic_; }
  /// Returns how many bytes this rank receives in all steps, by the formula.
  std::uint64_t bytes_expected() const noexcept;
  /// Returns C's part of the outer dimension on this rank.
  Index outer_held() const noexcept { return outer_held_; }

 private:
  /// Where the elements of a window lie while they are broadcast, in a layer.
  Spread home(int layer, Window window) const noexcept;
  bool moves(int layer) const noexcept { return !aligned_ || layer != 0; }
  bool direct() const noexcept { return aligned_ && layer_ == 0 && count_ == 1 && !source_.conjugated; }
  Window own_window(Index step) const noexcept { return placed_ ? segments_.window(layer_, step) : Window{}; }
  std::size_t panel_bytes() const noexcept;
  Index slots() const noexcept;
  bool keeps() const noexcept { return kept_ > 1; }
  /// Returns the slot of a step's panel, where panels are kept.
  std::size_t kept_slot(Index step) const noexcept { return static_cast<std::size_t>(step % kept_); }
  std::size_t sent_bytes(Index step) const noexcept;
  std::size_t most_sent_bytes() const noexcept;
  std::size_t most_moved_bytes() const noexcept;
  /// Calls visit(root, indices of the window that it has, indices before them in the buffer), in the buffer's order.
  template <class Visit>
  void for_roots(Window window, Visit&& visit) const;
  /// Is the buffer in ascending order of k as it is received?
  bool in_order(Window window) const noexcept;
  /// Returns this rank's elements of a window, which begins at k that the coordinate holds, of its elements on the host
  /// or on the device.
  Elements own_elements(const Elements& all, Window window, int coordinate) const noexcept;
  /// Returns the panel that is a part of this rank's elements.
  Panel own_panel(const Elements& all, Index place) const noexcept;
  /// Copies this rank's part from the device to where it is broadcast from, and returns that place.
  char* stage_own_part(Window window, char* slot, Index held) noexcept;
  /// Puts this rank's part to where it is broadcast from, and returns that place.
  char* place_own_part(Window window, char* slot, Index held) const noexcept;
  /// Does this rank's part have the panel's order where it lies?
  bool keeps_order() const noexcept {
    return !moves(layer_) && !source_.conjugated && k_major_ == source_.outer_innermost;
  }
  /// Returns the bytes of the host's memory that parts are packed in on their way to a device.
  std::size_t packing_bytes() const noexcept;
  void put_own_part(Window window, char* part, Index held) noexcept;
  MoveKind move_kind() const noexcept { return {element_, source_.outer_innermost, tag_}; }
  /// Allocates what the moves of all steps need beside their buffers.
  void allocate_moves();
  /// Calls visit(layer, window) for each layer whose elements of a step move.
  template <class Visit>
  void for_moves(Index step, Visit&& visit);
  Status allocate_slots(HostBuffers& buffers);
  Status allocate_on_device(HostBuffers& buffers);
  void unpack_on_device(Window window, const char* from, char* to) noexcept;
  void unpack(Window window, const char* from, char* to) const noexcept;

  const tessera::detail::GridState& grid_;
  Communicator* along_; ///< in which panels are broadcast; null without a place in the grid
  int count_, stride_;  ///< of the coordinate in which the ranks of `along_` differ
  Source source_;
  Axis outer_;
  Segments segments_;
  Index kept_ = 1; ///< steps whose panels are kept
  Executor& executor_;
  tessera::detail::DistributedType type_;
  std::size_t element_;
  int tag_;
  bool aligned_ = false, placed_ = false, k_major_ = true; ///< k_major_: rows of panels are k
  int layer_ = 0;
  Index outer_held_ = 0;

  std::vector<char*> slots_;
  std::vector<Panel> panels_;         ///< by slot: the slot's panel, or the operand itself
  std::size_t current_ = 0;           ///< the slot of the panel in use
  std::size_t previous_ = 1;          ///< the slot of the panel before, which a device may still read
  std::size_t receiving_[2] = {0, 0}; ///< the slots of even and odd steps that are broadcast
  bool under_way_[2] = {false, false};
  char *send_ = nullptr, *receive_ = nullptr, *packing_ = nullptr;
  std::optional<DevicePanels> device_;
  std::unique_ptr<Queue> staging_; ///< of copies from the device to the slots
  Status local_failure_;
  Departure departure_;
  Arrival arrival_;
  Requests moving_, broadcasting_[2]; ///< of even and odd steps
  Traffic traffic_;
};

template <class Visit>
void Panels::for_roots(Window window, Visit&& visit) const {
  const Axis inner = home(layer_, window).inner;
  Index before = 0;
  for (int turn = 0; turn < count_ && before < window.size(); ++turn) {
    const int root = (inner.owner(window.begin) + turn) % count_;
    const Index held = inner.held(window.begin, window.end, root);
    if (held > 0) visit(root, held, before);
    before += held;
  }
}

} // namespace tessera::distributed
