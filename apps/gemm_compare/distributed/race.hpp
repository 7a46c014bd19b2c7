#pragma once

#include "options/options.hpp"

namespace tessera::compare_app {

/// Races the engines of distributed products on each grid and shape, over the ranks of the mpirun that started the
/// program, and prints a table on rank 0, or writes JSON. Returns whether every product had the bits of one rank, or
/// was right within rounding if the engine is a yardstick. All ranks call it.
bool race_engines(const Options& options);

} // namespace tessera::compare_app
