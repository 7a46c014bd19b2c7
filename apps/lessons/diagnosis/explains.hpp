#pragma once

/// Whether one supposed mistake gives the result of a call. Each explanation is such a question.

#include <cmath>
#include <string>
#include <utility>

#include "mistake.hpp"
#include "observation.hpp"

namespace tessera::lessons {

/// Does `value(i, j)` give every element of C, and is it another matrix than the right one? An element that was not
/// written is no number.
template <class Value>
bool explains(const Observation& seen, Value value) {
  bool differs = false;
  for (Index i = 0; i < seen.tried.shape.m; ++i)
    for (Index j = 0; j < seen.tried.shape.n; ++j) {
      const double would_be = value(i, j);
      const bool is_number = !std::isnan(would_be); // beyond an operand and between its rows stands NaN
      if (is_number != (seen.state(i, j) == Written::Number) || (is_number && would_be != seen.got(i, j))) return false;
      differs |= is_number && would_be != seen.wanted(i, j);
    }
  return differs;
}

/// The same for the wrong elements alone.
template <class Value>
bool explains_wrong_ones(const Observation& seen, Value value) {
  Index wrong = 0;
  for (Index i = 0; i < seen.tried.shape.m; ++i)
    for (Index j = 0; j < seen.tried.shape.n; ++j) {
      if (seen.state(i, j) != Written::Number) return false;
      if (seen.got(i, j) == seen.wanted(i, j)) continue;
      ++wrong;
      if (!(value(i, j) == seen.got(i, j))) return false;
    }
  return wrong > 0;
}

inline Finding found(Mistake mistake, std::string what, std::string look) {
  return {mistake, std::move(what), std::move(look), {}};
}

} // namespace tessera::lessons
