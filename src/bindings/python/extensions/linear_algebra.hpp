#pragma once

#include <Python.h>

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
  PyObject* math; ///< of "refined"; None is strict
};

/// Returns the result as a new numpy.ndarray; for "lu" a pair of the factors and the pivots, which are a list, and
/// for "qr" a pair of Q and R.
PyObject* solve_system(const SystemArguments& arguments);

} // namespace tessera::python
