#pragma once

/// tessera.gemm_batch, which computes many products of host arrays in one call of the library.

#include <Python.h>

namespace tessera::python {

struct BatchArguments {
  PyObject *a, *b, *out, *alpha, *beta, *backend, *math, *kernel, *threads, *verify;
};

/// Returns a new reference to the caller's `out`, a new numpy.ndarray of three dimensions, or a list of matrices.
PyObject* gemm_batch(const BatchArguments& arguments);

} // namespace tessera::python
