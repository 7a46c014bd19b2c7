#include "move.hpp"

namespace tessera::distributed {
namespace {

using Places = std::vector<std::vector<Index>>;

/// Returns the local places of a coordinate's indices within a window, in ascending order, by the coordinate that they
/// have on another axis.
Places places_by_owner(const Axis& axis, int coordinate, Window window, const Axis& other) {
  Places places(static_cast<std::size_t>(other.count));
  const Index end = axis.held_before(window.end, coordinate);
  for (Index place = axis.held_before(window.begin, coordinate); place < end; ++place)
    places[static_cast<std::size_t>(other.owner(axis.global(place, coordinate)))].push_back(place);
  return places;
}

Window whole(const Axis& axis) { return {axis.first, axis.first + axis.size}; }

/// Calls visit(rank, outer places, inner places) for each coordinate pair of `spread` that has elements.
template <class Visit>
Status for_partners(const Spread& spread, const Places& outer, const Places& inner, Visit&& visit) {
  for (int o = 0; o < spread.outer.count; ++o) {
    const auto& of_outer = outer[static_cast<std::size_t>(o)];
    if (of_outer.empty()) continue;
    for (int i = 0; i < spread.inner.count; ++i) {
      const auto& of_inner = inner[static_cast<std::size_t>(i)];
      if (of_inner.empty()) continue;
      if (Status status = visit(spread.rank_of(o, i), of_outer, of_inner); !status.ok()) return status;
    }
  }
  return {};
}

std::size_t bytes_of(const std::vector<Index>& outer, const std::vector<Index>& inner, const MoveKind& kind) {
  return outer.size() * inner.size() * kind.bytes;
}

/// A message as a rectangle of elements, in the order of its kind.
Elements message(char* data, std::size_t outer, std::size_t inner, const MoveKind& kind) {
  return kind.outer_innermost ? Elements{data, 1, static_cast<Index>(outer)}
                              : Elements{data, static_cast<Index>(inner), 1};
}

} // namespace

std::optional<Coordinates> coordinates_of(const Spread& spread, int rank) noexcept {
  const int from_base = rank - spread.base;
  if (from_base < 0) return std::nullopt;
  const auto on = [&](const Axis& axis) { return axis.count == 1 ? 0 : from_base / axis.stride % axis.count; };
  const Coordinates found{on(spread.outer), on(spread.inner)};
  if (spread.rank_of(found.outer, found.inner) != rank) return std::nullopt;
  return found;
}

Index elements_held(const Spread& spread, int rank, Window inner) noexcept {
  const auto at = coordinates_of(spread, rank);
  if (!at) return 0;
  return spread.outer.held(at->outer) * spread.inner.held(inner.begin, inner.end, at->inner);
}

Status begin_sending(Communicator& ranks, const Spread& from, const Elements& elements, const Spread& to, Window window,
                     const MoveKind& kind, char* buffer, Requests& requests, Traffic& traffic) {
  const auto at = coordinates_of(from, ranks.rank());
  if (!at) return {};
  const Places outer = places_by_owner(from.outer, at->outer, whole(from.outer), to.outer);
  const Places inner = places_by_owner(from.inner, at->inner, window, to.inner);
  return for_partners(to, outer, inner, [&](int rank, const std::vector<Index>& o, const std::vector<Index>& i) {
    if (rank == ranks.rank()) return Status{};
    const Elements packed = message(buffer, o.size(), i.size(), kind);
    copy_picked({elements, o, i}, {packed, {}, {}}, static_cast<Index>(o.size()), static_cast<Index>(i.size()),
                kind.outer_innermost, kind.bytes);
    const std::size_t bytes = bytes_of(o, i, kind);
    ++traffic.messages;
    traffic.bytes_sent += bytes;
    Status status = ranks.send(buffer, bytes, rank, kind.tag, requests);
    buffer += bytes;
    return status;
  });
}

Status Arrival::begin(Communicator& ranks, const Spread& from, const Spread& to, Window window, const MoveKind& kind,
                      char* buffer, Requests& requests, Traffic& traffic) {
  kind_ = kind;
  parts_.clear();
  const auto at = coordinates_of(to, ranks.rank());
  if (!at) return {};
  outer_ = places_by_owner(to.outer, at->outer, whole(to.outer), from.outer);
  inner_ = places_by_owner(to.inner, at->inner, window, from.inner);
  const Index before = to.inner.held_before(window.begin, at->inner); // the target begins with the window
  for (std::vector<Index>& places : inner_)
    for (Index& place : places) place -= before;
  return for_partners(from, outer_, inner_, [&](int rank, const std::vector<Index>& o, const std::vector<Index>& i) {
    Part part{buffer, {}, {}, &o, &i};
    if (rank == ranks.rank()) {
      part.message = nullptr;
      for (const Index place : o) part.own_outer.push_back(from.outer.local(to.outer.global(place, at->outer)));
      for (const Index place : i)
        part.own_inner.push_back(from.inner.local(to.inner.global(place + before, at->inner)));
      parts_.push_back(std::move(part));
      return Status{};
    }
    parts_.push_back(std::move(part));
    const std::size_t bytes = bytes_of(o, i, kind);
    ++traffic.messages;
    traffic.bytes_received += bytes;
    Status status = ranks.receive(buffer, bytes, rank, kind.tag, requests);
    buffer += bytes;
    return status;
  });
}

void Arrival::place(const Elements& own, const Elements& target) const noexcept {
  for (const Part& part : parts_) {
    const std::size_t outer = part.outer->size(), inner = part.inner->size();
    const Picked to{target, *part.outer, *part.inner};
    const Picked from = part.message == nullptr
                            ? Picked{own, part.own_outer, part.own_inner}
                            : Picked{message(const_cast<char*>(part.message), outer, inner, kind_), {}, {}};
    copy_picked(from, to, static_cast<Index>(outer), static_cast<Index>(inner), kind_.outer_innermost, kind_.bytes);
  }
}

} // namespace tessera::distributed
