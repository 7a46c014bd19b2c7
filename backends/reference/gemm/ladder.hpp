#pragma once

/// The reference ladder, best first. Each rung is the file of its name.

#include <span>

#include <tessera/kernel.hpp>

namespace tessera::reference {

extern const GemmKernel canonical_f32, canonical_f64;
extern const GemmKernel gold_f32, gold_f64;

std::span<const GemmKernel> gemm_ladder();

} // namespace tessera::reference
