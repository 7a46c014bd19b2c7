#pragma once

/// Arrays whose class gives their elements a meaning that a product of the elements alone would lose: masks, units.

#include <Python.h>

namespace tessera::python {

/// Finds NumPy's classes. It is called once, when the module is made.
void import_numpy();

/// Throws TypeError, which names the argument, for a numpy.ma.MaskedArray, and for an object of another subclass of
/// numpy.ndarray that has rules of its own for arithmetic (__array_ufunc__, NEP 13), as arrays with units have. Other
/// subclasses (matrix, memmap, recarray) and other libraries' arrays are what their elements are.
void expect_plain(PyObject* object, const char* name);

} // namespace tessera::python
