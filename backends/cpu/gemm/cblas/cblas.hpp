#pragma once

/// Makes kernels at run time, from CBLAS libraries, as peers of Tessera's own rungs in one table.

#include <vector>

#include <tessera/backend/kernel.hpp>

namespace tessera::cpu {

/// Returns two kernels (f32, f64) for each library that the environment variable TESSERA_CBLAS lists. The list is
/// separated by colons; an entry is a path, or a file name that the dynamic linker finds. The kernels of
/// libopenblas.so.0 are called cblas:openblas. A library is opened when one of its kernels is first asked whether it
/// takes a call. If it cannot be used, its kernels reject with the reason. Names and reasons live as long as the
/// process.
std::vector<GemmKernel> cblas_rows();

} // namespace tessera::cpu
