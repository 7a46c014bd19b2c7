#pragma once

/// Times kernels of a lesson with the judge, which also checks them on numbers that are not whole.

#include "trying.hpp"

namespace tessera::lessons {

struct Raced {
  double seconds = 0; ///< of the fastest timed call, which other programs disturbed least; 0: it did not finish
  Finding finding;    ///< what the judge found
};

/// Judges the kernel on a square product of this size in f32.
Raced race(const judge::KernelFile& kernel, Index size, const Limits& limits);

} // namespace tessera::lessons
