#pragma once

/// The panels of one operand: for each segment of k, the part that this rank multiplies. An operand is seen as
/// outer×k, so that B is read as its transpose: `outer` counts rows of op(A), or columns of op(B).
///
/// A panel takes up to two steps. If the operand does not lie as C needs it, or the rank is on another layer, the
/// elements of the segment move to the ranks that will broadcast them. Then each of these ranks broadcasts its part
/// along the process row (A) or the process column (B), from the operand's own memory where it lies side by side there.
/// A panel that one rank has whole keeps the order of the operand's memory. While a panel is multiplied, the next one
/// is broadcast, and the elements of the one after it move.

#include <vector>

#include "grid_state.hpp"
#include "host_buffers.hpp"
#include "move.hpp"
#include "segments.hpp"

namespace tessera::distributed {

/// An operand as the caller has it, on layer 0.
struct Source {
  Spread spread;           ///< outer: rows of op(A) or columns of op(B); inner: k
  Elements elements;       ///< of this rank
  bool outer_innermost;    ///< the order of the memory, on all ranks
  bool conjugated = false; ///< the product takes the conjugates of the elements
  bool lasting = false;    ///< the memory is the library's, which can keep it where MPI goes on reading it
};

/// A panel in host memory, outer×k.
struct Panel {
  const char* data = nullptr;
  Index ld = 1;
  bool k_major = true; ///< rows of the memory are k, else outer indices
};

class Panels {
 public:
  /// `outer` is C's axis of rows for A, of columns for B. `keep` holds all panels, for several passes over k.
  Panels(const tessera::detail::GridState& grid, bool is_a, const Source& source, const Axis& outer,
         const Segments& segments, bool keep, tessera::detail::DistributedType type);

  /// Returns how many bytes allocate() allocates.
  std::size_t bytes() const noexcept;
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
  /// Are transfers under way?
  bool pending() const noexcept { return !moving_.empty() || !broadcasting_[0].empty() || !broadcasting_[1].empty(); }
  /// Lets MPI go on with the transfers.
  Status progress() noexcept;

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
  std::size_t sent_bytes(Index step) const noexcept;
  std::size_t most_sent_bytes() const noexcept;
  std::size_t most_moved_bytes() const noexcept;
  /// Calls visit(root, indices of the window that it has, indices before them in the buffer), in the buffer's order.
  template <class Visit>
  void for_roots(Window window, Visit&& visit) const;
  /// Is the buffer in ascending order of k as it is received?
  bool in_order(Window window) const noexcept;
  /// Returns this rank's elements of a window, which begins at k that the coordinate holds.
  Elements own_elements(Window window, int coordinate) const noexcept;
  /// Puts this rank's part to where it is broadcast from, and returns that place.
  char* place_own_part(Window window, char* slot, Index held) const noexcept;
  void unpack(Window window, const char* from, char* to) const noexcept;

  const tessera::detail::GridState& grid_;
  Communicator* along_; ///< in which panels are broadcast; null without a place in the grid
  int count_, stride_;  ///< of the coordinate in which the ranks of `along_` differ
  Source source_;
  Axis outer_;
  Segments segments_;
  bool keep_;
  tessera::detail::DistributedType type_;
  std::size_t element_;
  int tag_;
  bool aligned_ = false, placed_ = false, k_major_ = true; ///< k_major_: rows of panels are k
  int layer_ = 0;
  Index outer_held_ = 0;

  std::vector<char*> slots_;
  std::vector<const char*> panels_;   ///< by slot: the slot's panel, or the operand itself
  std::size_t current_ = 0;           ///< the slot of the panel in use
  std::size_t receiving_[2] = {0, 0}; ///< the slots of even and odd steps that are broadcast
  bool under_way_[2] = {false, false};
  char *send_ = nullptr, *receive_ = nullptr;
  Arrival arrival_;
  Requests moving_, broadcasting_[2]; ///< of even and odd steps
  Traffic traffic_;
};

} // namespace tessera::distributed
