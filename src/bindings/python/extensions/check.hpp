#pragma once

#include <Python.h>

namespace tessera::python {

/// The arguments of tessera._core._check, as tessera/_certificate.py passes them.
struct CheckArguments {
  PyObject* products; ///< a sequence of tuples (a, b, c, c_before, bias, residual), of which the last three may be None
  PyObject* types;    ///< the names of the types of A, B and C
  PyObject* math;     ///< a word
  PyObject* alpha;    ///< a float
  PyObject* beta;     ///< a float
  PyObject* activation; ///< a word, or None
  PyObject* seed;       ///< whole numbers from here on
  PyObject* rows;
  PyObject* vectors;
  PyObject* threads;
};

/// Checks the products, and returns the certificate as a pair of its JSON and its text. Matrices are objects with a
/// buffer of elements whose bytes are of the named types, by rows or by columns, or anything with DLPack; those on a
/// CUDA device are copied to the host.
PyObject* check(const CheckArguments& arguments);

/// The arguments of tessera._core._check_solve, as tessera/_solution.py passes them.
struct SolutionArguments {
  PyObject *a, *x, *b; ///< matrices as check() takes them
  PyObject* types;     ///< the names of their types
  PyObject* nearness;  ///< a word
  PyObject* limit;     ///< a float
  PyObject* threads;   ///< a whole number
};

/// Checks a solution, and returns the certificate as a pair of its JSON and its text.
PyObject* check_solution(const SolutionArguments& arguments);

} // namespace tessera::python
