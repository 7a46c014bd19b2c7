#pragma once

/// Where arrays are, and the executor that computes with the ones on a device.

#include <string>

#include <tessera/executor.hpp>

#include "bindings/python/array.hpp"

namespace tessera::python {

/// Returns "on CUDA device 0" or "in host memory".
std::string place_of(const Array& array);

/// Throws InvalidArgument where one array is in other memory than the other one.
void expect_same_place(const Array& x, const Array& y);

/// Returns the executor of the CUDA device that the array is on. Throws BackendUnavailable, and InvalidArgument where
/// the caller names another backend, or where Tessera uses another device.
Executor& executor_of(const Array& array, Backend named);

} // namespace tessera::python
