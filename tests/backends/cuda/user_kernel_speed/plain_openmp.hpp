#pragma once

/// The sum as a programmer of OpenMP writes it: the peer of sum() on a processor.

#include <tessera/types.hpp>

namespace handwritten {

double openmp_sum(const double* x, tessera::Index n, int threads);

} // namespace handwritten
