#include "element.hpp"

#include <bit>
#include <vector>

#include <tessera/detail/type_words.hpp>

namespace tessera::python {
namespace {

/// The types of matrices.
const std::vector<Element>& elements() {
  static const std::vector<Element> all = [] {
    std::vector<Element> types;
    for (const ElementType& type : element_types) types.emplace_back(type.type);
    for (const ElementType& type : element_types)
      if (tessera::detail::has_complex(type.type)) types.emplace_back(type.type, true);
    return types;
  }();
  return all;
}

PyObject* facts_of(Element type, bool is_of_matrices) {
  const ElementType& part = element_type(type.part);
  const auto text = [](std::string_view word) { return std::string(word); };
  return Py_BuildValue("(ssisiiss)", (type.is_complex ? "" : text(part.name)).c_str(), text(type.array_name()).c_str(),
                       static_cast<int>(type.bytes()),
                       std::string(type.is_complex ? "Z" : "").append(part.buffer).c_str(), type.dlpack(),
                       is_of_matrices ? 1 : 0, std::string(to_string(part.lossless_math)).c_str(),
                       text(part.what).c_str());
}

} // namespace

const char* dtype_name(Element element) { return element.array_name().data(); } // literals, which end in a zero

std::optional<Element> find_element(std::string_view name) {
  for (const Element& type : elements())
    if (type.array_name() == name) return type;
  return {};
}

std::string element_names(std::string_view last, bool with_complex) {
  std::vector<std::string_view> names;
  for (const Element& type : elements())
    if (with_complex || !type.is_complex) names.push_back(type.array_name());
  return tessera::detail::listed(names, last);
}

bool parse_dtype(const dlpack::DataType& dtype, Element& type) {
  for (const Element& known : elements()) {
    const dlpack::DataType its = dlpack::data_type(known);
    if (dtype.code != its.code || dtype.bits != its.bits || dtype.lanes != its.lanes) continue;
    type = known;
    return true;
  }
  return false;
}

bool parse_format(const char* format, Element& type) {
  constexpr char own_order = std::endian::native == std::endian::little ? '<' : '>';
  if (*format == '@' || *format == '=' || *format == own_order || (*format == '!' && own_order == '>')) ++format;
  const bool is_complex = *format == 'Z';
  if (is_complex) ++format;
  for (const Element& known : elements()) {
    const std::string_view letter = element_type(known.part).buffer;
    if (known.is_complex != is_complex || letter.empty() || letter != format) continue;
    type = known;
    return true;
  }
  return false;
}

std::size_t element_count() { return elements().size(); }

std::size_t place_of(Element type) {
  std::size_t place = 0;
  while (place < elements().size() && !(elements()[place] == type)) ++place;
  return place;
}

PyObject* element_table() {
  PyObject* const table = PyList_New(0);
  const auto add = [&](Element type, bool is_of_matrices) {
    PyObject* const facts = facts_of(type, is_of_matrices);
    const bool added = facts != nullptr && PyList_Append(table, facts) == 0;
    Py_XDECREF(facts);
    return added;
  };
  bool complete = table != nullptr;
  for (const Element& type : elements()) complete = complete && add(type, true);
  for (const ElementType& type : known_types)
    if (!is_element_type(type.type)) complete = complete && add(type.type, false);
  if (complete) return table;
  Py_XDECREF(table);
  return nullptr;
}

} // namespace tessera::python
