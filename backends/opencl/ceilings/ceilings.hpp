#pragma once

/// What the device can do at most, measured: multiply-adds in registers, and copies within its memory.

#include <tessera/executor.hpp>

namespace tessera::opencl {

/// Measures the ceilings of products in this type. All modes are of multiply-adds: OpenCL C has no matrix units.
Status measure_ceilings(Executor& executor, Queue& queue, DType type, Ceilings& ceilings);

} // namespace tessera::opencl
