#pragma once

/// Text from outside, such as the names and reasons of kernels, as a terminal or a page may show it.

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include <tessera/detail/macros_off.hpp>

namespace tessera::detail {

/// Takes the first character from UTF-8 text. Returns its bytes, or 0 if the text does not begin with a character.
inline std::size_t decode_utf8(std::string_view text, std::uint32_t& character) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])); };
  const std::uint32_t first = byte(0);
  const std::size_t length = first < 0x80 ? 1 : first >> 5 == 6 ? 2 : first >> 4 == 14 ? 3 : first >> 3 == 30 ? 4 : 0;
  if (length == 0 || length > text.size()) return 0;
  character = length == 1 ? first : first & (0x7Fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if (byte(i) >> 6 != 2) return 0;
    character = character << 6 | (byte(i) & 0x3F);
  }
  constexpr std::uint32_t least[]{0, 0, 0x80, 0x800, 0x10000}; // what fewer bytes hold is no UTF-8
  const bool surrogate = character >= 0xD800 && character <= 0xDFFF;
  return character < least[length] || character > 0x10FFFF || surrogate ? 0 : length;
}

/// Says whether a character acts on a terminal, ends a line, or changes the direction of the text around it.
inline bool is_control(std::uint32_t c) noexcept {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x200E || c == 0x200F || (c >= 0x2028 && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069);
}

/// Returns valid UTF-8 that takes one line and moves nothing on a terminal: control characters and bytes that are no
/// UTF-8 are written as \n, \x1b and \u{202e}. With `keep_lines`, ends of lines and tabs stay.
inline std::string printable(std::string_view text, bool keep_lines = false) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    std::uint32_t character = 0;
    const std::size_t decoded = decode_utf8(text, character);
    const std::size_t length = decoded == 0 ? 1 : decoded;
    char escape[16] = "\\n";
    if (decoded == 0 || (character < 0x80 && is_control(character) && character != '\n'))
      std::snprintf(escape, sizeof escape, "\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(text[0])));
    else if (character >= 0x80)
      std::snprintf(escape, sizeof escape, "\\u{%x}", static_cast<unsigned>(character));
    const bool stays = keep_lines && (character == '\n' || character == '\t');
    if (decoded > 0 && (stays || !is_control(character)))
      result += text.substr(0, length);
    else
      result += escape;
    text.remove_prefix(length);
  }
  return result;
}

} // namespace tessera::detail

#include <tessera/detail/macros_on.hpp>
