#pragma once

/// The counts of the rungs that a lesson is compared with.

#include <future>
#include <map>
#include <optional>
#include <string>

#include "catalogue.hpp"

namespace tessera::lessons {

/// The counts of the two rungs that a lesson is compared with.
struct References {
  std::optional<double> before, rung;
};

/// Returns the counts of a lesson's rungs, which are made once: two compilers side by side take half the time.
template <class Count>
References references(const Lesson& lesson, Count count_rung) {
  static std::map<std::string, References> known;
  const auto found = known.find(lesson.name);
  if (found != known.end()) return found->second;
  auto before = std::async(std::launch::async, [&] { return count_rung(lesson.before_file); });
  References counted;
  counted.rung = count_rung(lesson.rung_file);
  counted.before = before.get();
  return known[lesson.name] = counted;
}

} // namespace tessera::lessons
