#include "type_words.hpp"

#include <tessera/detail/type_words.hpp>
#include <tessera/status.hpp>

#include "gemm_judge/elements.hpp"
#include "linear_algebra/catalogue.hpp"

namespace tessera::compare_app {
namespace {

std::string matrix_types(std::string_view last) { return detail::type_words(element_types, &ElementType::name, last); }

} // namespace

DType parse_type(const std::string& word, bool multiplies, bool judges) {
  for (const detail::NumberType type : system_types())
    if (type.is_complex && word == name_of(type))
      throw InvalidArgument("--dtype: " + word + " is for linear algebra, as in --op potrf; products have " +
                            matrix_types("and"));
  for (const ElementType& type : known_types) {
    if (type.name != word || is_element_type(type.type)) continue;
    if (multiplies && judge::is_judged(type.type)) {
      if (judges) return type.type;
      throw InvalidArgument("--dtype: " + word + " is for --kernel and --check; other products have " +
                            matrix_types("and"));
    }
    if (type.type == whole_number_type.type) {
      if (!multiplies) return type.type;
      throw InvalidArgument("--dtype: " + word + " is for --op sum_of_squares; products have " + matrix_types("and"));
    }
    if (multiplies) throw InvalidArgument("--dtype: " + word + " is for --check; products have " + matrix_types("and"));
  }
  return parse_dtype(word);
}

std::string help_of_types() {
  const auto whole = [](const ElementType& type) { return judge::is_whole(type.type); };
  return detail::type_words(element_types, &ElementType::name, "and") + ", or some of them; " +
         detail::type_words(known_types, &ElementType::name, "and", whole) + " of --kernel; " +
         std::string(whole_number_type.name) +
         " under --op sum_of_squares; complex64 and complex128 of linear algebra; an operation's own types by default";
}

std::string help_of_results() {
  const auto half = [](const ElementType& type) { return is_16_bit(type.type); };
  return "Type of C where it is not the operands': f32, or " +
         detail::type_words(element_types, &ElementType::name, "or", half) + " of f32 ones";
}

} // namespace tessera::compare_app
