#include "places.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace tessera::lessons {
namespace {

/// Which lines (rows or columns) hold a place, and whether such lines hold it throughout.
struct LinesHit {
  std::vector<Index> hit;
  Index count = 0;
  bool whole = true;
};

template <class At>
LinesHit lines_hit(Index lines, Index length, At at) {
  LinesHit found{.hit = {}, .count = lines};
  for (Index line = 0; line < lines; ++line) {
    Index held = 0;
    for (Index e = 0; e < length; ++e) held += at(line, e) ? 1 : 0;
    if (held > 0) found.hit.push_back(line);
    if (held > 0 && 5 * held < 4 * length) found.whole = false; // a few elements of a wrong line are right by chance
  }
  return found;
}

bool is_suffix(const LinesHit& lines) {
  return lines.hit.front() > 0 && lines.hit.back() == lines.count - 1 &&
         static_cast<Index>(lines.hit.size()) == lines.count - lines.hit.front();
}

std::string range_of(Index first, Index last, const char* one, const char* many) {
  return first == last ? fmt::format("{} {}", one, first) : fmt::format("{} {} to {}", many, first, last);
}

/// More than half of the lines: then the first tile is right, and not the last one wrong.
bool is_most(const LinesHit& lines) { return 2 * static_cast<Index>(lines.hit.size()) > lines.count; }

/// "the last 3 rows of C (64 to 66)", or "all rows of C from 4 on" where these are most of them.
std::string suffix_text(const LinesHit& lines, const char* one, const char* many) {
  const Index first = lines.hit.front(), last = lines.count - 1;
  if (is_most(lines)) return fmt::format("all {} of C from {} on", many, first);
  if (first == last) return fmt::format("the last {} of C ({})", one, first);
  return fmt::format("the last {} {} of C ({} to {})", last - first + 1, many, first, last);
}

/// Returns "every 2nd row of C, from row 1 on", where lines at equal distances are hit; "" otherwise.
std::string periodic_text(const LinesHit& lines, const char* one, const char* many) {
  if (lines.hit.size() < 2 || static_cast<Index>(lines.hit.size()) == lines.count) return {};
  for (const Index period : {2, 3, 4, 8, 16, 32, 64}) {
    if (period >= lines.count) break;
    std::vector<Index> residues;
    for (const Index line : lines.hit) residues.push_back(line % period);
    std::sort(residues.begin(), residues.end());
    residues.erase(std::unique(residues.begin(), residues.end()), residues.end());
    if (static_cast<Index>(residues.size()) == period) continue;
    Index expected = 0;
    for (Index line = 0; line < lines.count; ++line)
      expected += std::binary_search(residues.begin(), residues.end(), line % period) ? 1 : 0;
    if (expected != static_cast<Index>(lines.hit.size())) continue;
    if (residues.size() == 1)
      return fmt::format("every {}{} {} of C ({}, {}, …)", period,
                         period == 2   ? "nd"
                         : period == 3 ? "rd"
                                       : "th",
                         one, residues.front(), residues.front() + period);
    if (residues.back() - residues.front() + 1 == static_cast<Index>(residues.size()))
      return fmt::format("of every {} {} of C those numbered {} to {}", period, many, residues.front(),
                         residues.back());
  }
  return {};
}

} // namespace

Index Places::count() const { return std::count(holds.begin(), holds.end(), true); }

Pattern pattern_of(const Places& places) {
  const LinesHit rows = lines_hit(places.m, places.n, [&](Index i, Index j) { return places.at(i, j); });
  const LinesHit cols = lines_hit(places.n, places.m, [&](Index j, Index i) { return places.at(i, j); });
  if (places.count() == places.m * places.n) return {Mistake::Elsewhere, true, "all of C"};
  // Some elements of a wrong matrix are right by chance.
  const bool is_spread =
      static_cast<Index>(rows.hit.size()) == places.m && static_cast<Index>(cols.hit.size()) == places.n;
  if (is_spread && 2 * places.count() > places.m * places.n) return {Mistake::Elsewhere, true, "most of C"};
  if (rows.whole && is_suffix(rows))
    return {is_most(rows) ? Mistake::LaterRows : Mistake::LastRows, false, suffix_text(rows, "row", "rows")};
  if (cols.whole && is_suffix(cols))
    return {is_most(cols) ? Mistake::LaterColumns : Mistake::LastColumns, false,
            suffix_text(cols, "column", "columns")};
  // An L: the last rows and the last columns.
  Index first_row = places.m, first_col = places.n;
  for (Index i = places.m - 1; i >= 0 && places.at(i, 0); --i) first_row = i;
  for (Index j = places.n - 1; j >= 0 && places.at(0, j); --j) first_col = j;
  bool is_corner = first_row < places.m && first_col < places.n;
  for (Index i = 0; i < places.m && is_corner; ++i)
    for (Index j = 0; j < places.n && is_corner; ++j) is_corner = places.at(i, j) == (i >= first_row || j >= first_col);
  if (is_corner)
    return {Mistake::LastRowsAndColumns, false,
            fmt::format("the {} and the {}", range_of(first_row, places.m - 1, "last row", "last rows"),
                        range_of(first_col, places.n - 1, "last column", "last columns"))};
  if (rows.whole)
    if (const std::string text = periodic_text(rows, "row", "rows"); !text.empty())
      return {Mistake::SomeRows, false, text};
  if (cols.whole)
    if (const std::string text = periodic_text(cols, "column", "columns"); !text.empty())
      return {Mistake::SomeColumns, false, text};
  const std::string where = fmt::format("{} and {}", range_of(rows.hit.front(), rows.hit.back(), "row", "rows"),
                                        range_of(cols.hit.front(), cols.hit.back(), "column", "columns"));
  if (rows.whole)
    return {Mistake::SomeRows, false, range_of(rows.hit.front(), rows.hit.back(), "row", "rows") + " of C"};
  if (cols.whole)
    return {Mistake::SomeColumns, false, range_of(cols.hit.front(), cols.hit.back(), "column", "columns") + " of C"};
  if (is_suffix(rows) && is_suffix(cols))
    return {Mistake::LastRowsAndColumns, false, fmt::format("the corner of C at its end ({})", where)};
  return {Mistake::Elsewhere, false,
          fmt::format("{} of {} elements of C, within {}", places.count(), places.m * places.n, where)};
}

} // namespace tessera::lessons
