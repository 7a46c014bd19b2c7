#include "diagnosis.hpp"

#include <fmt/format.h>

#include "explanations.hpp"
#include "places.hpp"

namespace tessera::lessons {
namespace {

template <class Holds>
Places places_where(const Observation& seen, Holds holds) {
  Places places(seen.tried.shape.m, seen.tried.shape.n);
  for (Index i = 0; i < places.m; ++i)
    for (Index j = 0; j < places.n; ++j)
      if (holds(i, j)) places.add(i, j);
  return places;
}

std::string capital(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

const char* verb(const Pattern& pattern) {
  return pattern.text.starts_with("every") || pattern.text.starts_with("row ") || pattern.everywhere ||
                 pattern.text.starts_with("column ") || pattern.text.starts_with("the corner") ||
                 pattern.text.starts_with("the last row of") || pattern.text.starts_with("the last column of")
             ? "is"
             : "are";
}

/// Says where to look for a mistake that shows in this pattern.
std::string look_at(const Pattern& pattern, bool written) {
  const std::string guard = written ? "look at the guard that cuts the last tile"
                                    : "the loop ends with the last whole tile, and the rest of C needs a turn as well";
  switch (pattern.mistake) {
    case Mistake::LastRows:
      return fmt::format("Look at the loop over rows: m need not be a multiple of a tile; {}.", guard);
    case Mistake::LastColumns:
      return fmt::format("Look at the loop over columns: n need not be a multiple of a tile; {}.", guard);
    case Mistake::LastRowsAndColumns:
      return fmt::format("Look at both loops: neither m nor n need be a multiple of a tile; {}.", guard);
    case Mistake::LaterRows:
      if (!written) return "Look at the loop over rows and at the number of tasks or blocks: they end before m.";
      return "The first rows are right: look at how the place of a later tile follows from its first row, in A, in C "
             "and in a packed copy.";
    case Mistake::LaterColumns:
      if (!written) return "Look at the loop over columns and at the number of tasks or blocks: they end before n.";
      return "The first columns are right: look at how the place of a later tile follows from its first column, in B, "
             "in C and in a packed copy.";
    case Mistake::SomeRows:
      return "Look at the step of the loop over rows, and at which row of a tile each sum belongs to.";
    case Mistake::SomeColumns:
      return "Look at the step of the loop over columns, and at which column of a tile each sum belongs to.";
    default:
      return written ? "Follow that element by hand: which elements of A and of B does the kernel multiply for it? "
                       "The check shows the first lines that a printf() in it prints."
                     : "";
  }
}

Finding not_written(const Places& unwritten) {
  const Pattern pattern = pattern_of(unwritten);
  if (pattern.everywhere)
    return {Mistake::NothingWritten,
            "C was not written",
            "Look at what stores C: it has to be reached, and to store alpha times the sum plus beta times C.",
            {}};
  return {pattern.mistake,
          fmt::format("{} {} not written", capital(pattern.text), verb(pattern)),
          look_at(pattern, false),
          {}};
}

Finding not_a_number(const Places& nans) {
  const Pattern pattern = pattern_of(nans);
  const char* look =
      "Beyond an operand, in the padding of its rows and in new shared memory stands NaN: look for an "
      "element that is read where none is";
  std::string where;
  if (pattern.mistake == Mistake::LastRows) where = ", in the rows of A past m";
  if (pattern.mistake == Mistake::LastColumns) where = ", in the columns of B past n";
  if (pattern.everywhere) where = ", past the end of k for example";
  return {Mistake::NotANumber,
          fmt::format("{} {} NaN, and no operand holds one", capital(pattern.text), verb(pattern)),
          fmt::format("{}{}.", look, where),
          {}};
}

} // namespace

Finding diagnose(const Observation& seen) {
  const Places unwritten = places_where(seen, [&](Index i, Index j) { return seen.state(i, j) == Written::No; });
  if (unwritten.count() > 0) return not_written(unwritten);
  const auto is_wrong = [&](Index i, Index j) {
    return seen.state(i, j) != Written::Number || seen.got(i, j) != seen.wanted(i, j);
  };
  const Places wrong = places_where(seen, is_wrong);
  if (wrong.count() == 0) return {};
  if (auto finding = explained_by_reading(seen)) return *finding;
  const Places nans = places_where(seen, [&](Index i, Index j) { return seen.state(i, j) == Written::NotANumber; });
  if (nans.count() > 0) return not_a_number(nans);
  const Pattern pattern = pattern_of(wrong);
  if (auto finding = explained_by_steps(seen)) {
    if (!pattern.everywhere) finding->what += fmt::format("; in {}", pattern.text);
    return *finding;
  }
  if (auto finding = explained_by_tiles(seen)) return *finding;
  // With beta the old elements are numbers.
  const bool kept = seen.tried.beta != 0 && places_where(seen, [&](Index i, Index j) {
                                              return is_wrong(i, j) && seen.got(i, j) == seen.c_before.at(i, j);
                                            }).count() == wrong.count();
  if (kept) return not_written(wrong);
  for (Index i = 0; i < seen.tried.shape.m; ++i)
    for (Index j = 0; j < seen.tried.shape.n; ++j)
      if (wrong.at(i, j))
        return {pattern.mistake,
                fmt::format("{} {} wrong: C({}, {}) is {:g} and should be {:g}", capital(pattern.text), verb(pattern),
                            i, j, seen.got(i, j), seen.wanted(i, j)),
                look_at(pattern, true),
                {}};
  return {};
}

Finding diagnose_difference(const Observation& first, const Observation& second) {
  const Places differ = places_where(first, [&](Index i, Index j) {
    return first.state(i, j) != second.state(i, j) ||
           (first.state(i, j) == Written::Number && first.got(i, j) != second.got(i, j));
  });
  if (differ.count() == 0) return {};
  return {
      Mistake::DiffersBetweenRuns,
      fmt::format("two calls with equal operands give different results, in {}: threads disturb one another",
                  pattern_of(differ).text),
      "Look for memory that two threads write, or that one writes while another reads it: a buffer or a sum that is "
      "declared outside of the parallel loop, or a missing barrier.",
      {}};
}

} // namespace tessera::lessons
