/// The element types of the C interface, made of the list of element types.

#include "c_api.hpp"

namespace tessera::c_api {

DType checked_type(tessera_dtype type, const char* what) {
  const auto element = static_cast<DType>(type);
  if (is_element_type(element)) return element;
  const std::string number = std::to_string(static_cast<int>(type));
  std::string known;
  for (const ElementType& one : element_types)
    known +=
        (known.empty() ? "" : ", ") + std::to_string(static_cast<int>(one.type)) + " (" + std::string(one.name) + ")";
  throw InvalidArgument(std::string(what) + " = " + number +
                        (is_known_type(element) ? ", " + std::string(to_string(element)) + "," : "") +
                        " is no element type of matrices; pass one of " + known);
}

} // namespace tessera::c_api
