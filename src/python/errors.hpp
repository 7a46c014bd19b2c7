#pragma once

/// How failures reach Python: tessera::Error and its kinds as the classes of tessera/_errors.py, the rest as here.

#include <Python.h>

#include <stdexcept>
#include <string>

#include <tessera/status.hpp>

namespace tessera::python {

/// Becomes a TypeError: an argument of a kind that cannot be taken, whatever its value.
struct TypeError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Becomes a BufferError: what the array protocols raise where an export is not possible.
struct BufferError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Python's own exception is set already.
struct PythonError {};

/// A new reference that an API call returned, or the exception that it set.
inline PyObject* checked(PyObject* result) {
  if (result == nullptr) throw PythonError{};
  return result;
}

/// A reference of ours.
class Reference {
 public:
  Reference() = default;
  explicit Reference(PyObject* stolen) : object_(stolen) {}
  ~Reference() { Py_XDECREF(object_); }
  Reference(Reference&& other) noexcept : object_(other.release()) {}
  Reference& operator=(Reference&& other) noexcept {
    PyObject* old = object_;
    object_ = other.release();
    Py_XDECREF(old);
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

/// "int", "numpy.ndarray", …: the type's name for messages.
std::string type_name(PyObject* object);

/// Looks the classes up; once, when the module is made.
void import_errors();

/// Sets the Python exception for the C++ exception that is being handled; rethrows what it does not know.
void raise_current();

/// Other threads may run while this lives. No Python object may be touched.
class WithoutGil {
 public:
  WithoutGil() : state_(PyEval_SaveThread()) {}
  ~WithoutGil() { PyEval_RestoreThread(state_); }
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  PyThreadState* state_;
};

} // namespace tessera::python
