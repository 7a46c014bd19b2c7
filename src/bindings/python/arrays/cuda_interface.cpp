#include "cuda_interface.hpp"

#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "bindings/python/errors.hpp"

namespace tessera::python {
namespace {

constexpr const char* cuda_interface_name = "__cuda_array_interface__";

[[noreturn]] void wrong_interface(const char* name, const std::string& why) {
  throw TypeError(std::string(name) + "." + cuda_interface_name + " " + why);
}

/// Returns the member of the interface, a borrowed reference; null where there is none, or None.
PyObject* member_of(PyObject* interface, const char* key) {
  PyObject* const member = PyDict_GetItemString(interface, key);
  return member == Py_None ? nullptr : member;
}

/// Returns the numbers of a tuple.
std::vector<Index> numbers_of(PyObject* tuple, const char* name, const char* key) {
  if (tuple == nullptr || !PyTuple_Check(tuple)) wrong_interface(name, std::string("has no tuple '") + key + "'");
  std::vector<Index> numbers;
  for (Py_ssize_t i = 0; i < PyTuple_Size(tuple); ++i) {
    numbers.push_back(python_call<&PyLong_AsLongLong>(PyTuple_GetItem(tuple, i)));
    if (PyErr_Occurred()) throw PythonError{};
  }
  return numbers;
}

/// Reads a format such as '<f4'.
Element element_of(PyObject* interface, const char* name) {
  PyObject* const format = member_of(interface, "typestr");
  const char* const text = format != nullptr && PyUnicode_Check(format) ? PyUnicode_AsUTF8AndSize(format, nullptr) : "";
  if (text == nullptr) throw PythonError{};
  const std::string word = text;
  Element type = DType::F32;
  if (word.size() >= 3 && word[0] == '<' && (word[1] == 'f' || word[1] == 'c')) {
    const auto code = word[1] == 'f' ? dlpack::TypeCode::Float : dlpack::TypeCode::Complex;
    const int bytes = std::atoi(word.c_str() + 2);
    if (bytes <= 16 && parse_dtype({code, static_cast<std::uint8_t>(8 * bytes), 1}, type)) return type;
  }
  throw TypeError(std::string(name) + " holds elements of type '" + word + "', but products are of " +
                  element_names("and", true) + "; convert it");
}

std::vector<Index> strides_without_gaps(const std::vector<Index>& sizes, Index element) {
  std::vector<Index> strides(sizes.size());
  Index step = element;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    strides[i] = step;
    step *= sizes[i];
  }
  return strides;
}

} // namespace

bool has_cuda_interface(PyObject* object) {
  const Reference found(python_call<&PyObject_GetAttrString>(object, cuda_interface_name));
  PyErr_Clear();
  return static_cast<bool>(found);
}

CudaInterface read_cuda_interface(PyObject* object, const char* name) {
  const Reference interface(checked(python_call<&PyObject_GetAttrString>(object, cuda_interface_name)));
  if (!PyDict_Check(interface.get())) wrong_interface(name, "is no dictionary");
  if (member_of(interface.get(), "mask") != nullptr)
    wrong_interface(name, "has a mask, which products do not know; fill the masked elements");
  CudaInterface found;
  found.type = element_of(interface.get(), name);
  found.sizes = numbers_of(member_of(interface.get(), "shape"), name, "shape");
  PyObject* const strides = member_of(interface.get(), "strides");
  found.strides = strides == nullptr ? strides_without_gaps(found.sizes, static_cast<Index>(found.type.bytes()))
                                     : numbers_of(strides, name, "strides");
  const std::vector<Index> data = numbers_of(member_of(interface.get(), "data"), name, "data");
  if (data.size() != 2 || found.strides.size() != found.sizes.size())
    wrong_interface(name, "must have a pair 'data', and as many strides as sizes");
  found.data = reinterpret_cast<void*>(static_cast<std::intptr_t>(data[0]));
  found.read_only = data[1] != 0;
  if (PyObject* const stream = member_of(interface.get(), "stream"))
    found.stream = reinterpret_cast<void*>(static_cast<std::intptr_t>(python_call<&PyLong_AsLongLong>(stream)));
  if (PyErr_Occurred()) throw PythonError{};
  return found;
}

int device_of_address(const void* address, int otherwise) {
  using Ask = int (*)(void* value, int attribute, std::uintptr_t address);
  constexpr int device_ordinal = 9;                                    // CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD); // it is loaded already, where it is there
  const auto ask = driver != nullptr ? reinterpret_cast<Ask>(dlsym(driver, "cuPointerGetAttribute")) : nullptr;
  int number = otherwise;
  if (ask == nullptr || ask(&number, device_ordinal, reinterpret_cast<std::uintptr_t>(address)) != 0) return otherwise;
  return number;
}

} // namespace tessera::python
