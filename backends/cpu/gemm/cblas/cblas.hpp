#pragma once

/// Rows made at run time: a CBLAS library each, as a peer of our own rungs in the same table.

#include <vector>

#include <tessera/backend/kernel.hpp>

namespace tessera::cpu {

/// Two rows (f32, f64) for each library that the environment variable TESSERA_CBLAS lists, separated by colons: file
/// names, found as the dynamic linker does, or paths. libopenblas.so.0 becomes cblas:openblas. A library is opened when
/// one of its rows is first asked whether it takes a call; one that cannot be used makes rows that reject with the
/// reason. Names and reasons live as long as the process.
std::vector<GemmKernel> cblas_rows();

} // namespace tessera::cpu
