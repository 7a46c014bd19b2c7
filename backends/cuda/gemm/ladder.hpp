#pragma once

/// The GEMM ladder, best first. Each rung is the file of its name, gemm/<name>.cu, which ends in its rows.

#include <span>

#include <tessera/kernel.hpp>

namespace tessera::cuda {

extern const GemmKernel naive_coalesced_f32, naive_coalesced_f64;

std::span<const GemmKernel> gemm_ladder();

} // namespace tessera::cuda
