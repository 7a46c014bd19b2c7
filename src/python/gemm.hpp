#pragma once

/// tessera.gemm: from Python's arguments to one call of the library.

#include <Python.h>

#include <string>

#include <tessera/types.hpp>

#include "device_array.hpp"

namespace tessera::python {

struct GemmArguments {
  PyObject *a, *b, *c, *out, *alpha, *beta, *backend, *math, *kernel, *threads, *stream, *bias, *activation, *residual,
      *conj_a, *conj_b;
};

/// A new reference: the caller's `out`, a new numpy.ndarray, or what `wrap` makes of a result on a device.
PyObject* gemm(const GemmArguments& arguments, PyObject* (*wrap)(DeviceArray&&));

/// "3×4", for messages.
std::string shape(Index rows, Index cols);

} // namespace tessera::python
