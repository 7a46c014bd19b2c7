#include "plain.hpp"

#include <string>

#include "bindings/python/errors.hpp"

namespace tessera::python {
namespace {

/// Kept until the process ends, like the module.
struct ArrayClasses {
  PyTypeObject* ndarray = nullptr;
  PyObject* arithmetic = nullptr; ///< numpy.ndarray.__array_ufunc__
} array_classes;

/// Returns numpy.ma.MaskedArray, or nothing if no module has imported it: then there is no such array.
Reference masked_array() {
  const Reference name(checked(PyUnicode_FromString("numpy.ma")));
  const Reference module(PyImport_GetModule(name.get()));
  Reference found(module ? python_call<&PyObject_GetAttrString>(module.get(), "MaskedArray") : nullptr);
  PyErr_Clear();
  return found;
}

bool is_instance(PyObject* object, PyObject* type) {
  return PyType_Check(type) != 0 && PyType_IsSubtype(Py_TYPE(object), reinterpret_cast<PyTypeObject*>(type)) != 0;
}

} // namespace

void import_numpy() {
  const Reference module(checked(python_call<&PyImport_ImportModule>("numpy")));
  PyObject* const type = checked(python_call<&PyObject_GetAttrString>(module.get(), "ndarray"));
  array_classes.ndarray = reinterpret_cast<PyTypeObject*>(type);
  array_classes.arithmetic = checked(python_call<&PyObject_GetAttrString>(type, "__array_ufunc__"));
}

void expect_plain(PyObject* object, const char* name) {
  PyTypeObject* const type = Py_TYPE(object);
  if (type == array_classes.ndarray || PyType_IsSubtype(type, array_classes.ndarray) == 0) [[likely]]
    return;
  if (const Reference masked = masked_array(); masked && is_instance(object, masked.get()))
    throw TypeError(std::string(name) + " is a " + type_name(object) +
                    ", whose mask a product would pass over; pass its filled(0), with any number in place of what is "
                    "masked, or its data for the elements without the mask");
  const Reference arithmetic(
      python_call<&PyObject_GetAttrString>(reinterpret_cast<PyObject*>(type), "__array_ufunc__"));
  if (arithmetic.get() == array_classes.arithmetic) return;
  PyErr_Clear();
  throw TypeError(
      std::string(name) + " is a " + type_name(object) +
      ", a subclass of numpy.ndarray with rules of its own for arithmetic (__array_ufunc__), which a product "
      "would pass over; pass its view(numpy.ndarray) for the elements alone");
}

} // namespace tessera::python
