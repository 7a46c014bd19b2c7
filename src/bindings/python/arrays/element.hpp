#pragma once

/// The types of arrays' elements, as Python's libraries name them. All of it is made of the list of element types
/// (tessera/detail/element_types.h).

#include <Python.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <tessera/detail/number_type.hpp>

#include "bindings/python/dlpack.hpp"

namespace tessera::python {

/// The element type of an array: numbers of a type, or complex numbers of two parts of a type, the real part first.
using Element = tessera::detail::NumberType;

/// Returns the name of the type in NumPy and other array libraries: "float32".
const char* dtype_name(Element element);
/// Returns the type of this name, if matrices have it.
std::optional<Element> find_element(std::string_view name);
/// Returns the names of all types of matrices: "float32, float64 or float16".
std::string element_names(std::string_view last, bool with_complex);

/// Reads DLPack's name of an element type. Returns false for a type that no product has.
bool parse_dtype(const dlpack::DataType& dtype, Element& type);
/// Reads a format of the buffer protocol. The bytes must be in this machine's order. Returns false for a type that no
/// product has.
bool parse_format(const char* format, Element& type);
/// Does NumPy have the type? It exports no other in a buffer.
constexpr bool is_of_numpy(Element type) { return type.is_complex || !element_type(type.part).buffer.empty(); }

/// The number of types of matrices, complex ones among them, and the place of one of them. _core.element_types and the
/// tuple of modes of product.hpp have this order: numbers first, then complex numbers.
std::size_t element_count();
std::size_t place_of(Element type);

/// Returns the table of all types for tessera/_types.py, which names the columns: first the types of matrices, in the
/// order of place_of(), then the others.
PyObject* element_table();

} // namespace tessera::python
