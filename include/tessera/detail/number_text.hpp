#pragma once

/// Numbers as text for messages and reports. The program's locale has no say in it: printf and std::to_string write a
/// decimal comma where setlocale() has named such a language.

#include <charconv>
#include <string>

#include <tessera/detail/macros_off.hpp>

namespace tessera::detail {

/// Returns the number with so many digits, as printf's %.<digits>g writes it in the C locale.
inline std::string general_text(double number, int digits) {
  char text[64]; // 17 digits, a sign, a point, an exponent; or a word
  const auto [end, error] = std::to_chars(text, text + sizeof text, number, std::chars_format::general, digits);
  return error == std::errc() ? std::string(text, end) : std::string("?");
}

/// Returns the number with so many digits after the point, as printf's %.<digits>f writes it in the C locale.
inline std::string fixed_text(double number, int digits) {
  char text[400]; // the largest double has 309 digits before the point
  const auto [end, error] = std::to_chars(text, text + sizeof text, number, std::chars_format::fixed, digits);
  return error == std::errc() ? std::string(text, end) : std::string("?");
}

} // namespace tessera::detail

#include <tessera/detail/macros_on.hpp>
