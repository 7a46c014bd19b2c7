#pragma once

/// The CPU ladder, best first. Each rung is the file of its name.

#include <span>

#include <tessera/kernel.hpp>

namespace tessera::cpu {

extern const GemmKernel naive_f32, naive_f64;

std::span<const GemmKernel> gemm_ladder();

} // namespace tessera::cpu
