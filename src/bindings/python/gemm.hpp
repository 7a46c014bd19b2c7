#pragma once

/// tessera.gemm, which turns Python's arguments into one call of the library.

#include <Python.h>

#include <string>

#include <tessera/types.hpp>

#include "core/matrix/operand.hpp"
#include "device_array.hpp"

namespace tessera::python {

struct GemmArguments {
  PyObject *a, *b, *c, *out, *alpha, *beta, *backend, *math, *kernel, *threads, *stream, *bias, *activation, *residual,
      *verify, *conj_a, *conj_b;
};

/// Returns a new reference to the caller's `out`, to a new numpy.ndarray, or to the object that `wrap` makes of a
/// result on a device.
PyObject* gemm(const GemmArguments& arguments, PyObject* (*wrap)(DeviceArray&&));

using detail::shape; // shape(3, 4) is "3×4", for messages

} // namespace tessera::python
