#pragma once

/// Reads words and numbers from Python. Errors name the argument.

#include <Python.h>

#include <complex>
#include <string_view>

#include <tessera/backend.hpp>
#include <tessera/epilogue.hpp>

#include "array.hpp"

namespace tessera::python {

Backend parse_backend(PyObject* word);
Math parse_math(PyObject* word);
/// Reads a number of threads, 0 for None.
int parse_threads(PyObject* number);
/// Reads a whole number: an int, or anything that Python takes as an index, such as NumPy's whole numbers. Throws
/// TypeError for other objects. If the number is beyond 64 bits, `fits` becomes false, and the result is not to be
/// used.
long long parse_whole_number(PyObject* number, const char* name, const char* expected, bool& fits);
Activation parse_activation(PyObject* word);
bool parse_flag(PyObject* flag, const char* name);
std::string_view parse_text(PyObject* word, const char* name);
/// Reads alpha or beta and rounds it to the type that products of `type` are computed in.
double parse_number(PyObject* number, const char* name, DType type);
/// Reads alpha or beta of products whose elements may be complex.
std::complex<double> parse_complex(PyObject* number, const char* name, Element type);

} // namespace tessera::python
