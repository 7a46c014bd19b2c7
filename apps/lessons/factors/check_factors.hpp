#pragma once

/// The check of a lesson on factors.

#include "check.hpp"

namespace tessera::lessons {

/// Marks a function that factors, counts and races it.
void check_factors(const Lesson& lesson, const std::filesystem::path& file, const Limits& limits,
                   const std::function<void(const char*)>& say, Report& report);

} // namespace tessera::lessons
