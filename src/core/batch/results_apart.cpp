#include "results_apart.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <new>
#include <queue>
#include <utility>

#include "batch_operand.hpp"

namespace tessera::detail {
namespace {

using Address = std::uintptr_t;

/// A rectangle of a plane whose lines are `pitch` bytes long: lines [top, bottom), bytes [left, right) of each.
struct Piece {
  Address top, bottom, left, right;
  std::size_t product;
};

/// Appends what a result covers of the plane that begins at `origin`. A row that goes beyond the end of a line goes on
/// in the next one.
void append_pieces(const WrittenRows& x, Address origin, Address pitch, std::vector<Piece>& to) {
  const Address line = (x.begin - origin) / pitch, column = (x.begin - origin) % pitch;
  if (!x.is_solid()) {
    const Address right = column + x.width;
    to.push_back({line, line + x.rows, column, std::min(right, pitch), x.product});
    if (right > pitch) to.push_back({line + 1, line + x.rows + 1, 0, right - pitch, x.product});
    return;
  }
  const Address length = x.end() - x.begin, head = std::min(length, pitch - column);
  const Address whole_lines = (length - head) / pitch, tail = (length - head) % pitch;
  to.push_back({line, line + 1, column, column + head, x.product});
  if (whole_lines > 0) to.push_back({line + 1, line + 1 + whole_lines, 0, pitch, x.product});
  if (tail > 0) to.push_back({line + 1 + whole_lines, line + 2 + whole_lines, 0, tail, x.product});
}

/// Results of one pitch. The pieces on the current line are apart, so that a new one can only meet its neighbours.
std::optional<SharedResult> sweep_plane(std::span<const WrittenRows> results, Address pitch) {
  std::vector<Piece> pieces;
  pieces.reserve(results.size() + 8);
  for (const WrittenRows& x : results) append_pieces(x, results.front().begin, pitch, pieces);
  std::sort(pieces.begin(), pieces.end(), [](const Piece& x, const Piece& y) { return x.top < y.top; });
  std::map<Address, const Piece*> on_line; // by their left ends
  using Bottom = std::pair<Address, Address>;
  std::priority_queue<Bottom, std::vector<Bottom>, std::greater<>> bottoms; // and the left end of the piece
  for (const Piece& piece : pieces) {
    for (; !bottoms.empty() && bottoms.top().first <= piece.top; bottoms.pop()) on_line.erase(bottoms.top().second);
    const auto after = on_line.lower_bound(piece.left);
    if (after != on_line.end() && after->first < piece.right)
      return SharedResult{after->second->product, piece.product};
    if (after != on_line.begin())
      if (const Piece& before = *std::prev(after)->second; before.right > piece.left)
        return SharedResult{before.product, piece.product};
    on_line.emplace_hint(after, piece.left, &piece);
    bottoms.emplace(piece.bottom, piece.left);
  }
  return std::nullopt;
}

/// Results of different pitches, or beside what is read: takes the rows in the order of their addresses.
std::optional<SharedResult> merge_rows(std::span<const WrittenRows> results) {
  using Row = std::pair<Address, std::size_t>; // where it begins, and the place of its result
  std::priority_queue<Row, std::vector<Row>, std::greater<>> next;
  std::vector<Address> row(results.size(), 0);
  for (std::size_t i = 0; i < results.size(); ++i) next.emplace(results[i].begin, i);
  struct Reach {
    Address end = 0;
    std::size_t product = 0;
  } written, read; // how far the rows until now go
  while (!next.empty()) {
    const auto [begin, i] = next.top();
    next.pop();
    const WrittenRows& x = results[i];
    if (begin < written.end) return SharedResult{written.product, x.product};
    if (!x.only_read && begin < read.end) return SharedResult{read.product, x.product};
    const Address end = x.is_solid() ? x.end() : begin + x.width;
    if (Reach& reach = x.only_read ? read : written; end > reach.end) reach = {end, x.product};
    if (!x.is_solid() && ++row[i] < x.rows) next.emplace(begin + x.pitch, i);
  }
  return std::nullopt;
}

/// Results whose ranges of addresses hang together.
std::optional<SharedResult> search_cluster(std::span<const WrittenRows> results) {
  Address pitch = 0;
  bool one_pitch = true, any_written = false;
  for (const WrittenRows& x : results) {
    one_pitch = one_pitch && !x.only_read;
    any_written = any_written || !x.only_read;
    if (x.is_solid()) continue;
    one_pitch = one_pitch && (pitch == 0 || pitch == x.pitch);
    pitch = x.pitch;
  }
  if (!any_written) return std::nullopt;
  return one_pitch && pitch > 0 ? sweep_plane(results, pitch) : merge_rows(results);
}

WrittenRows written(const BatchOperand& c, Index i) {
  const StoredRows rows = c.at(i);
  const auto bytes = [&](Index elements) { return static_cast<Address>(elements) * rows.element; };
  return {.begin = reinterpret_cast<Address>(rows.data),
          .width = bytes(rows.cols),
          .pitch = bytes(rows.ld),
          .rows = static_cast<Address>(rows.rows)};
}

bool writes(const GemmBatch& group) { return group.count > 0 && group.call.m > 0 && group.call.n > 0; }

/// True if each result begins after the one before it. The results of a group with strides are apart from each other,
/// so that their common range counts; the products of a group with ends share one C.
bool ascend(std::span<const GemmBatch> groups) {
  Address end = 0;
  bool ascending = true;
  for (const GemmBatch& group : groups) {
    if (!writes(group)) continue;
    const BatchOperand c = batch_operand_c(group);
    const auto extent = static_cast<Address>(c.extent());
    if (c.pointers == nullptr) {
      const Index last = group.ends.data != nullptr ? 0 : group.count - 1;
      const auto [low, high] =
          std::minmax({reinterpret_cast<Address>(c.at(0).data), reinterpret_cast<Address>(c.at(last).data)});
      ascending = ascending && low >= end;
      end = high + extent;
      continue;
    }
    for (Index i = 0; i < group.count; ++i) { // no branches: thousands of pointers take hardly any time
      const auto begin = reinterpret_cast<Address>(c.pointers[i]);
      ascending &= begin >= end;
      end = begin + extent;
    }
  }
  return ascending;
}

/// Calls visit(place, written rows) for each result that is not empty, until it returns true.
template <class Visit>
void each_result(std::span<const GemmBatch> groups, Visit visit) {
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (!writes(groups[g])) continue;
    const BatchOperand c = batch_operand_c(groups[g]);
    const Index count = groups[g].ends.data != nullptr ? 1 : groups[g].count;
    for (Index i = 0; i < count; ++i)
      if (visit(ProductPlace{g, i}, written(c, i))) return;
  }
}

std::optional<SharedPlaces> search_list(std::span<const GemmBatch> groups) {
  std::vector<WrittenRows> results;
  std::vector<ProductPlace> places;
  std::size_t count = 0;
  each_result(groups, [&](const ProductPlace&, const WrittenRows&) { return ++count == 0; });
  results.reserve(count);
  places.reserve(count);
  each_result(groups, [&](const ProductPlace& place, WrittenRows rows) {
    rows.product = places.size();
    results.push_back(rows);
    places.push_back(place);
    return false;
  });
  const auto shared = find_shared_result(results);
  if (!shared) return std::nullopt;
  const auto [low, high] = std::minmax({shared->first, shared->second});
  return SharedPlaces{places[low], places[high]};
}

bool share_a_byte(const WrittenRows& x, const WrittenRows& y) {
  if (x.end() <= y.begin || y.end() <= x.begin) return false;
  for (Address i = 0, j = 0; i < x.rows && j < y.rows;) {
    const Address row_x = x.begin + i * x.pitch, row_y = y.begin + j * y.pitch;
    if (row_x + x.width <= row_y)
      ++i;
    else if (row_y + y.width <= row_x)
      ++j;
    else
      return true;
  }
  return false;
}

std::optional<SharedPlaces> compare_all_pairs(std::span<const GemmBatch> groups) noexcept {
  std::optional<SharedPlaces> found;
  each_result(groups, [&](const ProductPlace& first, const WrittenRows& x) {
    each_result(groups, [&](const ProductPlace& second, const WrittenRows& y) {
      const bool earlier = second.group < first.group || (second.group == first.group && second.index < first.index);
      if (earlier && share_a_byte(x, y)) found = SharedPlaces{second, first};
      return found.has_value();
    });
    return found.has_value();
  });
  return found;
}

} // namespace

std::optional<SharedResult> find_shared_result(std::span<const WrittenRows> results) {
  const auto meets_earlier = [end = Address{0}](const WrittenRows& x) mutable {
    const bool meets = x.begin < end;
    end = x.end();
    return meets;
  };
  if (std::none_of(results.begin(), results.end(), meets_earlier)) return std::nullopt;
  std::vector<std::pair<Address, std::size_t>> order; // where a result begins, and its place in the list
  order.reserve(results.size());
  for (std::size_t i = 0; i < results.size(); ++i) order.emplace_back(results[i].begin, i);
  std::sort(order.begin(), order.end());
  std::vector<WrittenRows> cluster;
  Address end = 0;
  for (std::size_t i = 0, first = 0; i <= order.size(); ++i) {
    const WrittenRows* const x = i < order.size() ? &results[order[i].second] : nullptr;
    if (x != nullptr && x->begin < end) {
      end = std::max(end, x->end());
      continue;
    }
    if (i - first > 1) {
      cluster.clear();
      for (std::size_t k = first; k < i; ++k) cluster.push_back(results[order[k].second]);
      if (auto shared = search_cluster(cluster)) return shared;
    }
    first = i;
    if (x != nullptr) end = x->end();
  }
  return std::nullopt;
}

std::optional<SharedPlaces> find_shared_result(std::span<const GemmBatch> groups) noexcept {
  if (ascend(groups) || (groups.size() == 1 && !groups.front().has_pointers())) return std::nullopt;
  try {
    return search_list(groups);
  } catch (const std::bad_alloc&) {
    return compare_all_pairs(groups);
  }
}

} // namespace tessera::detail
