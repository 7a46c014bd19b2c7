#pragma once

/// tessera.gemm: from Python's arguments to one call of the library.

#include <Python.h>

#include <string>
#include <string_view>

#include <tessera/gemm.hpp>

#include "device_array.hpp"

namespace tessera::python {

struct GemmArguments {
  PyObject *a, *b, *c, *out, *alpha, *beta, *backend, *math, *kernel, *threads, *stream, *bias, *activation, *residual;
};

/// A new reference: the caller's `out`, a new numpy.ndarray, or what `wrap` makes of a result on a device.
PyObject* gemm(const GemmArguments& arguments, PyObject* (*wrap)(DeviceArray&&));

/// "3×4", for messages.
std::string shape(Index rows, Index cols);

/// Words and numbers, with errors that name the argument.
Backend parse_backend(PyObject* word);
Math parse_math(PyObject* word);
int parse_threads(PyObject* number);
std::string_view parse_text(PyObject* word, const char* name);
/// alpha and beta are numbers of the element type.
double parse_number(PyObject* number, const char* name, DType type);

} // namespace tessera::python
