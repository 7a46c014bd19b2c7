#include "words.hpp"

#include <cmath>
#include <limits>
#include <string>

#include <tessera/detail/floating_point.hpp>

#include "errors.hpp"

namespace tessera::python {

std::string_view parse_text(PyObject* word, const char* name) {
  Py_ssize_t length = 0;
  const char* text = PyUnicode_Check(word) ? PyUnicode_AsUTF8AndSize(word, &length) : nullptr;
  if (text != nullptr) return {text, static_cast<std::size_t>(length)};
  if (PyErr_Occurred()) throw PythonError{};
  throw TypeError(std::string(name) + " must be a str or None, not " + type_name(word));
}

namespace {

double rounded(double value, const char* name, DType type) {
  if (scalar_of(type) == DType::F64) return value;
  const detail::ContractArithmetic contract;
  const double single = static_cast<float>(value);
  if (std::isinf(single) && !std::isinf(value))
    throw InvalidArgument(std::string(name) + " = " + std::to_string(value) +
                          " is beyond float32, the type of a and b");
  return single;
}

/// Returns a number as Python's complex, or null with an error set. A string, which complex() would read, is not a
/// number.
PyObject* as_python_complex(PyObject* number) {
  if (PyComplex_Check(number)) return Py_NewRef(number);
  if (PyUnicode_Check(number)) {
    PyErr_SetNone(PyExc_TypeError);
    return nullptr;
  }
  return python_call<&PyObject_CallFunctionObjArgs>(reinterpret_cast<PyObject*>(&PyComplex_Type), number, nullptr);
}

} // namespace

double parse_number(PyObject* number, const char* name, DType type) {
  const double value = python_call<&PyFloat_AsDouble>(number);
  if (value == -1.0 && PyErr_Occurred()) {
    if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw PythonError{}; // an OverflowError, for an int beyond float64
    PyErr_Clear();
    throw TypeError(std::string(name) + " must be a real number, not " + type_name(number));
  }
  return rounded(value, name, type);
}

std::complex<double> parse_complex(PyObject* number, const char* name, Element type) {
  if (!type.is_complex || PyFloat_Check(number) || PyLong_Check(number)) return parse_number(number, name, type.part);
  const Reference value(as_python_complex(number));
  if (!value) {
    if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw PythonError{};
    PyErr_Clear();
    throw TypeError(std::string(name) + " must be a number, not " + type_name(number));
  }
  return {rounded(PyComplex_RealAsDouble(value.get()), name, type.part),
          rounded(PyComplex_ImagAsDouble(value.get()), name, type.part)};
}

bool parse_flag(PyObject* flag, const char* name) {
  if (flag == Py_True || flag == Py_False) return flag == Py_True;
  throw TypeError(std::string(name) + " must be True or False, not " + type_name(flag));
}

Backend parse_backend(PyObject* word) {
  return word == Py_None ? Backend::Auto : tessera::parse_backend(parse_text(word, "backend"));
}

Math parse_math(PyObject* word) {
  return word == Py_None ? Math::Strict : tessera::parse_math(parse_text(word, "math"));
}

long long parse_whole_number(PyObject* number, const char* name, const char* expected, bool& fits) {
  const Reference index(python_call<&PyNumber_Index>(number));
  if (!index) {
    if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw PythonError{};
    PyErr_Clear();
    throw TypeError(std::string(name) + " must be " + expected + ", not " + type_name(number));
  }
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(index.get(), &overflow);
  fits = overflow == 0;
  return value;
}

int parse_threads(PyObject* number) {
  if (number == Py_None) return 0;
  bool fits = false;
  const long long value = parse_whole_number(number, "threads", "an int or None", fits);
  if (!fits || value < 1 || value > std::numeric_limits<int>::max()) {
    const Reference text(checked(python_call<&PyObject_Str>(number)));
    throw InvalidArgument("threads = " + std::string(parse_text(text.get(), "threads")) +
                          " is no number of threads; pass 1 or more, or None for the default");
  }
  return static_cast<int>(value);
}

Activation parse_activation(PyObject* word) {
  if (word == Py_None) return Activation::None;
  const std::string_view text = parse_text(word, "activation");
  if (text == "relu") return Activation::Relu;
  if (text == "gelu") return Activation::Gelu;
  throw InvalidArgument("unknown activation '" + std::string(text) + "'; did you mean '" +
                        nearest_word(text, {"relu", "gelu"}) + "'?");
}

} // namespace tessera::python
