#pragma once

/// The lessons on Cholesky's factor and on LU.

#include <vector>

#include "catalogue.hpp"

namespace tessera::lessons {

std::vector<Lesson> lessons_on_factors();

} // namespace tessera::lessons
