#pragma once

/// Lists of element types for messages, made of the one list of types.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tessera/types.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera::detail {

/// Returns "a, b or c" for the words a, b, c and the last word "or".
inline std::string listed(const std::vector<std::string_view>& words, std::string_view last) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0 && i + 1 == words.size())
      text.append(" ").append(last).append(" ");
    else if (i > 0)
      text.append(", ");
    text.append(words[i]);
  }
  return text;
}

/// Returns one fact of all types of a list for which `is_meant(type)` is true: "f32, f64, f16 or bf16".
template <class List, class Meant>
std::string type_words(const List& types, std::string_view ElementType::*fact, std::string_view last,
                       Meant&& is_meant) {
  std::vector<std::string_view> words;
  for (const ElementType& type : types)
    if (is_meant(type)) words.push_back(type.*fact);
  return listed(words, last);
}
/// Returns one fact of all types of a list.
template <class List>
std::string type_words(const List& types, std::string_view ElementType::*fact, std::string_view last) {
  return type_words(types, fact, last, [](const ElementType&) { return true; });
}

/// Returns which types a result may have besides the operands' own: "f32 for f16 and bf16 ones, or f16 or bf16 for f32
/// ones".
inline std::string other_results() {
  const auto is_half = [](const ElementType& type) { return is_16_bit(type.type); };
  return "f32 for " + type_words(element_types, &ElementType::name, "and", is_half) + " ones, or " +
         type_words(element_types, &ElementType::name, "or", is_half) + " for f32 ones";
}

} // namespace tessera::detail

#include <tessera/detail/macros_on.hpp>
