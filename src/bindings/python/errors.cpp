#include "errors.hpp"

#include <array>
#include <cstring>
#include <new>

namespace tessera::python {
namespace {

/// The exception classes by status code; [0] is the base class. They are kept until the process ends, like the module.
std::array<PyObject*, 9> classes{};

constexpr std::array<const char*, 9> names{"Error",         "InvalidArgument", "KernelRejected", "BackendUnavailable",
                                           "OutOfMemory",   "DeviceError",     "IoError",        "InternalError",
                                           "DataCorruption"};

/// The text may hold the name of a file, whose bytes need not be UTF-8.
void raise(StatusCode code, const char* why) {
  const Reference text(PyUnicode_DecodeUTF8(why, static_cast<Py_ssize_t>(std::strlen(why)), "backslashreplace"));
  if (text) PyErr_SetObject(classes[static_cast<std::size_t>(code)], text.get());
}

} // namespace

std::string type_name(PyObject* object) {
  const Reference type(Py_NewRef(reinterpret_cast<PyObject*>(Py_TYPE(object))));
  const Reference name(python_call<&PyObject_GetAttrString>(type.get(), "__qualname__"));
  const Reference module(python_call<&PyObject_GetAttrString>(type.get(), "__module__"));
  const char* word = name ? PyUnicode_AsUTF8AndSize(name.get(), nullptr) : nullptr;
  const char* home = module && PyUnicode_Check(module.get()) ? PyUnicode_AsUTF8AndSize(module.get(), nullptr) : nullptr;
  PyErr_Clear();
  if (word == nullptr) return "object of an unnamed type";
  return home == nullptr || std::string(home) == "builtins" ? word : std::string(home) + "." + word;
}

void import_errors() {
  const Reference module(checked(python_call<&PyImport_ImportModule>("tessera._errors")));
  for (std::size_t i = 0; i < classes.size(); ++i)
    classes[i] = checked(python_call<&PyObject_GetAttrString>(module.get(), names[i]));
}

void raise_current() {
  try {
    throw;
  } catch (const PythonError&) {
  } catch (const TypeError& why) {
    PyErr_SetString(PyExc_TypeError, why.what());
  } catch (const BufferError& why) {
    PyErr_SetString(PyExc_BufferError, why.what());
  } catch (const Error& why) {
    raise(why.code(), why.what());
  } catch (const std::bad_alloc&) {
    raise(StatusCode::OutOfMemory, "out of host memory");
  }
}

} // namespace tessera::python
