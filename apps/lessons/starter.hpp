#pragma once

/// The file that a lesson begins with: the rung before, without what only the ladder needs.

#include <string>
#include <string_view>

#include "catalogue.hpp"

namespace tessera::lessons {

/// Returns the text of a rung's file without its first comment, its entry in the ladder and the headers of that, under
/// the lesson's name.
std::string starting_text(const Lesson& lesson, std::string_view text_of_rung_before);

} // namespace tessera::lessons
