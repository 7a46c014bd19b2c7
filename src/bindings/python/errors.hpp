#pragma once

/// Errors on their way to Python. tessera::Error and its kinds become the classes of tessera/_errors.py; the other
/// exceptions are declared here.

#include <Python.h>

#include <stdexcept>
#include <string>

#include <tessera/status.hpp>

#include "gil.hpp"

namespace tessera::python {

/// Becomes a TypeError: the argument is of a type that the function does not take.
struct TypeError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Becomes a BufferError, which the array protocols raise where an export is not possible.
struct BufferError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Says that Python's exception is set already.
struct PythonError {};

/// Returns the new reference that an API call returned. Throws PythonError if it is null.
inline PyObject* checked(PyObject* result) {
  if (result == nullptr) throw PythonError{};
  return result;
}

/// Gives a reference up; the last one may run code of Python. Null does nothing.
inline void release_object(PyObject* object) {
  try {
    Py_XDECREF(object);
  } catch (abi::__forced_unwind&) {
    stay_until_the_end();
  }
}

/// An owned reference.
class Reference {
 public:
  Reference() = default;
  explicit Reference(PyObject* stolen) : object_(stolen) {}
  ~Reference() { release_object(object_); }
  Reference(Reference&& other) noexcept : object_(other.release()) {}
  Reference& operator=(Reference&& other) noexcept {
    PyObject* old = object_;
    object_ = other.release();
    release_object(old);
    return *this;
  }
  PyObject* get() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }
  PyObject* release() {
    PyObject* object = object_;
    object_ = nullptr;
    return object;
  }

 private:
  PyObject* object_ = nullptr;
};

/// Returns the name of the object's type for messages: "int", "numpy.ndarray", ….
std::string type_name(PyObject* object);

/// Looks the exception classes up. It is called once, when the module is made.
void import_errors();

/// Sets the Python exception for the C++ exception that is being handled. Rethrows exceptions that it does not know.
void raise_current();

} // namespace tessera::python
