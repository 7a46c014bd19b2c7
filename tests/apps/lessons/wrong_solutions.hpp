#pragma once

/// A rung with a mistake in it, and what the check of its lesson has to say.

#include <string>
#include <vector>

#include "../../support/files.hpp"
#include "catalogue.hpp"
#include "check.hpp"

namespace tessera::lessons::testing {

/// The first `from` of a rung's file becomes `to`.
struct Edit {
  const char* from;
  const char* to;
};

struct WrongSolution {
  const char* what;
  const char* lesson;
  std::vector<Edit> edits;
  Mistake mistake;
  std::vector<const char*> words; ///< that the report has to hold
};

/// Returns the rung of a lesson with the edits. The test fails if the rung no longer has what they replace.
std::string with_mistake(const Lesson& lesson, const std::vector<Edit>& edits);

/// Checks a text as the lesson's file, without a race.
Report report_of(const Lesson& lesson, const std::string& text);

/// Checks a wrong solution.
void expect(const WrongSolution& wrong);

} // namespace tessera::lessons::testing
