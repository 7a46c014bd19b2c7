#pragma once

/// Moves a matrix, or a window of its inner dimension, from one distribution to another. Each rank sends one message to
/// each rank that needs elements of it, and no rank collects for others.

#include <cstdint>
#include <optional>
#include <vector>

#include "axis.hpp"
#include "elements.hpp"
#include "mpi/communicator.hpp"

namespace tessera::distributed {

/// Indices begin … end − 1.
struct Window {
  Index begin = 0, end = 0;
  Index size() const noexcept { return end - begin; }
};

/// Which rank of a communicator holds which elements of a matrix of outer×inner indices.
struct Spread {
  Axis outer, inner;
  int base = 0; ///< the rank with both coordinates 0

  int rank_of(int outer_coordinate, int inner_coordinate) const noexcept {
    return base + outer_coordinate * outer.stride + inner_coordinate * inner.stride;
  }
};

/// The coordinates of a rank.
struct Coordinates {
  int outer, inner;
};
/// Returns a rank's coordinates; none if it holds nothing.
std::optional<Coordinates> coordinates_of(const Spread& spread, int rank) noexcept;

/// Returns how many elements of a window a rank holds.
Index elements_held(const Spread& spread, int rank, Window inner) noexcept;

/// Counts what a rank received and sent, and the transfers that it took part in.
struct Traffic {
  std::uint64_t bytes_received = 0, bytes_sent = 0;
  std::uint64_t messages = 0, broadcasts = 0;

  Traffic& operator+=(const Traffic& other) noexcept {
    bytes_received += other.bytes_received;
    bytes_sent += other.bytes_sent;
    messages += other.messages;
    broadcasts += other.broadcasts;
    return *this;
  }
};

/// What is moved, of `bytes` bytes an element. `outer_innermost` is the order of elements in messages, which all ranks
/// choose alike; it should be the order of the source's memory.
struct MoveKind {
  std::size_t bytes;
  bool outer_innermost;
  int tag;
};

/// Lists of local places, by the coordinate on another axis that has the same indices.
using Places = std::vector<std::vector<Index>>;

/// The elements of a window on their way from this rank. One object takes one window after the other. Everything is
/// allocated by plan(), and nothing where windows were planned before that were no smaller.
class Departure {
 public:
  /// Finds out which elements the rank sends to which ranks. Throws std::bad_alloc.
  void plan(int rank, const Spread& from, const Spread& to, Window window, const MoveKind& kind);
  /// Returns how many requests begin() makes.
  std::size_t requests() const noexcept { return requests_; }
  /// Begins to send this rank's elements to the ranks that hold them in `to`, all but this one. `buffer` has room for
  /// elements_held(from, this rank, window), and `requests` for what this one makes.
  Status begin(Communicator& ranks, const Elements& elements, char* buffer, Requests& requests, Traffic& traffic) const;

 private:
  MoveKind kind_{};
  Spread to_;
  Places outer_, inner_;
  std::size_t requests_ = 0;
};

/// The elements of a window on their way to this rank. One object takes one window after the other, and allocates in
/// plan() alone, as a Departure does.
class Arrival {
 public:
  /// Finds out which elements come from which ranks. Throws std::bad_alloc.
  void plan(int rank, const Spread& from, const Spread& to, Window window, const MoveKind& kind);
  /// Returns how many requests begin() makes.
  std::size_t requests() const noexcept { return requests_; }
  /// Begins to receive. `buffer` has room for elements_held(to, this rank, window), and `requests` for what this one
  /// makes.
  Status begin(Communicator& ranks, char* buffer, Requests& requests, Traffic& traffic);
  /// Puts what has arrived, and what this rank itself had, to where this rank's part of the window begins.
  void place(const Elements& own, const Elements& target) const noexcept;

 private:
  /// What comes from one rank.
  struct Part {
    int rank;
    char* message;                          ///< null: the elements were on this rank
    const std::vector<Index>*outer, *inner; ///< places in the target
  };
  MoveKind kind_{};
  Places outer_, inner_;
  std::vector<Index> own_outer_, own_inner_; ///< places where this rank has elements that stay on it
  std::vector<Part> parts_;
  std::size_t requests_ = 0;
};

} // namespace tessera::distributed
