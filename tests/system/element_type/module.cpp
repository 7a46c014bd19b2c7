/// The part of the Python module that knows element types.

#include "bindings/python/arrays/element.hpp"

namespace {
PyModuleDef definition{PyModuleDef_HEAD_INIT, "_core", nullptr, -1, nullptr, nullptr, nullptr, nullptr, nullptr};
} // namespace

PyMODINIT_FUNC PyInit__core() {
  using namespace tessera;
  PyObject* module = PyModule_Create(&definition);
  if (module == nullptr) return nullptr;
  const std::optional<python::Element> found = python::find_element("float16_e6");
  python::Element by_dlpack;
  const bool read = python::parse_dtype({static_cast<python::dlpack::TypeCode>(99), 16, 1}, by_dlpack);
  PyModule_AddObject(module, "element_types", python::element_table());
  PyModule_AddStringConstant(module, "found", found ? python::dtype_name(*found) : "");
  PyModule_AddStringConstant(module, "by_dlpack", read ? python::dtype_name(by_dlpack) : "");
  PyModule_AddIntConstant(module, "of_numpy", found && python::is_of_numpy(*found) ? 1 : 0);
  PyModule_AddIntConstant(module, "torch", found ? found->torch() : -1);
  return module;
}
