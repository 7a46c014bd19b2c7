#pragma once

#include <Python.h>

#include "bindings/python/device_array.hpp"

namespace tessera::python {

/// The arguments of tessera._core._solve_stacks, as tessera/_device.py passes them: arrays on a CUDA device, of which
/// one has more than two dimensions.
struct StackArguments {
  PyObject* task; ///< "solve", "positive", "inverse", "cholesky" or "lu"
  PyObject* a;
  PyObject* b; ///< None where the task has no right-hand side
  PyObject* lower;
  PyObject* backend;
  PyObject* threads; ///< of the host, for messages alone
  PyObject* stream;  ///< None, or the number of a CUDA stream
};

/// Returns what `wrap` makes of the results, an array with the dimensions of the batch; for "lu" a pair of it and of
/// the pivots, int64 numbers in a bytearray. Returns None, and has changed nothing, where the device has no kernels for
/// such systems. Throws what solve_system_batch() throws.
PyObject* solve_device_stacks(const StackArguments& arguments, PyObject* (*wrap)(DeviceArray&&));

} // namespace tessera::python
