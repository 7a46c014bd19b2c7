#include "move.hpp"

namespace tessera::distributed {
namespace {

/// Lists the local places of a coordinate's indices within a window, in ascending order, by the coordinate that they
/// have on another axis.
void list_places(const Axis& axis, int coordinate, Window window, const Axis& other, Places& places) {
  places.resize(static_cast<std::size_t>(other.count));
  for (std::vector<Index>& list : places) list.clear();
  const Index end = axis.held_before(window.end, coordinate);
  for (Index place = axis.held_before(window.begin, coordinate); place < end; ++place)
    places[static_cast<std::size_t>(other.owner(axis.global(place, coordinate)))].push_back(place);
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

void Departure::plan(int rank, const Spread& from, const Spread& to, Window window, const MoveKind& kind) {
  kind_ = kind;
  to_ = to;
  requests_ = 0;
  for (Places* places : {&outer_, &inner_})
    for (std::vector<Index>& list : *places) list.clear();
  const auto at = coordinates_of(from, rank);
  if (!at) return;
  list_places(from.outer, at->outer, whole(from.outer), to.outer, outer_);
  list_places(from.inner, at->inner, window, to.inner, inner_);
  static_cast<void>(
      for_partners(to, outer_, inner_, [&](int, const std::vector<Index>& o, const std::vector<Index>& i) {
        requests_ += requests_of(bytes_of(o, i, kind));
        return Status{};
      }));
}

Status Departure::begin(Communicator& ranks, const Elements& elements, char* buffer, Requests& requests,
                        Traffic& traffic) const {
  if (requests_ == 0) return {};
  return for_partners(to_, outer_, inner_, [&](int rank, const std::vector<Index>& o, const std::vector<Index>& i) {
    if (rank == ranks.rank()) return Status{};
    const Elements packed = message(buffer, o.size(), i.size(), kind_);
    copy_picked({elements, o, i}, {packed, {}, {}}, static_cast<Index>(o.size()), static_cast<Index>(i.size()),
                kind_.outer_innermost, kind_.bytes);
    const std::size_t bytes = bytes_of(o, i, kind_);
    ++traffic.messages;
    traffic.bytes_sent += bytes;
    Status status = ranks.send(buffer, bytes, rank, kind_.tag, requests);
    buffer += bytes;
    return status;
  });
}

void Arrival::plan(int rank, const Spread& from, const Spread& to, Window window, const MoveKind& kind) {
  kind_ = kind;
  requests_ = 0;
  parts_.clear();
  own_outer_.clear();
  own_inner_.clear();
  const auto at = coordinates_of(to, rank);
  if (!at) return;
  list_places(to.outer, at->outer, whole(to.outer), from.outer, outer_);
  list_places(to.inner, at->inner, window, from.inner, inner_);
  const Index before = to.inner.held_before(window.begin, at->inner); // the target begins with the window
  for (std::vector<Index>& places : inner_)
    for (Index& place : places) place -= before;
  static_cast<void>(
      for_partners(from, outer_, inner_, [&](int sender, const std::vector<Index>& o, const std::vector<Index>& i) {
        parts_.push_back({sender, nullptr, &o, &i});
        requests_ += requests_of(bytes_of(o, i, kind));
        if (sender != rank) return Status{};
        for (const Index place : o) own_outer_.push_back(from.outer.local(to.outer.global(place, at->outer)));
        for (const Index place : i) own_inner_.push_back(from.inner.local(to.inner.global(place + before, at->inner)));
        return Status{};
      }));
}

Status Arrival::begin(Communicator& ranks, char* buffer, Requests& requests, Traffic& traffic) {
  for (Part& part : parts_) {
    if (part.rank == ranks.rank()) continue;
    const std::size_t bytes = bytes_of(*part.outer, *part.inner, kind_);
    part.message = buffer;
    ++traffic.messages;
    traffic.bytes_received += bytes;
    if (Status status = ranks.receive(buffer, bytes, part.rank, kind_.tag, requests); !status.ok()) return status;
    buffer += bytes;
  }
  return {};
}

void Arrival::place(const Elements& own, const Elements& target) const noexcept {
  for (const Part& part : parts_) {
    const std::size_t outer = part.outer->size(), inner = part.inner->size();
    const Picked to{target, *part.outer, *part.inner};
    const Picked from = part.message == nullptr ? Picked{own, own_outer_, own_inner_}
                                                : Picked{message(part.message, outer, inner, kind_), {}, {}};
    copy_picked(from, to, static_cast<Index>(outer), static_cast<Index>(inner), kind_.outer_innermost, kind_.bytes);
  }
}

} // namespace tessera::distributed
