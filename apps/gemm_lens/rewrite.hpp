#pragma once

/// Turns CUDA C++ after the preprocessor into C++ that GCC compiles against the lens' run-time library.

#include <string>
#include <string_view>

namespace tessera::lens {

/// Rewrites launches, variables of shared memory, and instructions of PTX; everything else stays, and so do the numbers
/// of lines:
///
/// - `kernel<<<grid, block, shared, stream>>>(arguments)` becomes a call of a Launcher.
/// - `__shared__ T x[8];` becomes an object between guard bands, and a reference to it.
/// - `extern __shared__ T x[];` becomes a pointer to dynamic shared memory.
/// - `#pragma unroll` becomes GCC's.
/// - `asm(…)` with instructions becomes a call that ends the run, one without instructions nothing.
///
/// `rung`: of the definitions `const GemmKernel NAME = …;` only this one stays, so that nothing is compiled for the
/// others; empty: all stay.
///
/// Throws InvalidArgument, with the line, where a launch or a variable has a form that it does not know.
std::string rewrite(std::string_view preprocessed, std::string_view rung = {});

} // namespace tessera::lens
