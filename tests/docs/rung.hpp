#pragma once

/// The line that docs/kernels.md asks for in ladder.hpp. The page's rung is compiled after it.

#include <tessera/backend/kernel.hpp>

namespace tessera::cpu {
extern const GemmKernel row_wise_f32, row_wise_f64;
}
