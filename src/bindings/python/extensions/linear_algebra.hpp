#pragma once

#include <Python.h>

#include "bindings/python/array.hpp"
#include "bindings/python/device_array.hpp"

namespace tessera::python {

/// The arguments of tessera._core._solve, as tessera/_linear_algebra.py passes them. `task` is one of its words.
struct SystemArguments {
  PyObject* task;
  PyObject* a;
  PyObject* b; ///< None where the task has no right-hand side
  PyObject* lower;
  PyObject* unit_diagonal;
  PyObject* backend;
  PyObject* threads;
  PyObject* stream; ///< None, or the number of a CUDA stream for arrays on a device
  PyObject* math;   ///< of "refined"; None is strict
};

/// Returns the result as a new numpy.ndarray; for "lu" a pair of the factors and the pivots, which are a list, and
/// for "qr" a pair of Q and R. For arrays on a device a result is what `wrap` makes of a DeviceArray there, n×1 for a
/// vector; matrices are not copied to the host.
PyObject* solve_system(const SystemArguments& arguments, PyObject* (*wrap)(DeviceArray&&));

/// Throws TypeError where the elements are of a type in which no linear system is solved.
void expect_solvable(const Array& array);

} // namespace tessera::python
