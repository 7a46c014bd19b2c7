#pragma once

/// Where in C elements are wrong, in words.

#include <string>
#include <vector>

#include <tessera/types.hpp>

#include "mistake.hpp"

namespace tessera::lessons {

/// The elements of an m×n matrix that something is true of.
struct Places {
  Index m = 0, n = 0;
  std::vector<bool> holds;

  Places(Index rows, Index cols) : m(rows), n(cols), holds(static_cast<std::size_t>(rows * cols)) {}
  bool at(Index i, Index j) const { return holds[static_cast<std::size_t>(i * n + j)]; }
  void add(Index i, Index j) { holds[static_cast<std::size_t>(i * n + j)] = true; }
  Index count() const;
};

/// A set of places with a shape that has a name.
struct Pattern {
  Mistake mistake = Mistake::Elsewhere; ///< of rows, of columns, or Elsewhere
  bool everywhere = false;
  std::string text; ///< "the last 3 rows of C (64 to 66)"
};

/// Names the pattern of at least one place.
Pattern pattern_of(const Places& places);

} // namespace tessera::lessons
