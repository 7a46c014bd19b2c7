#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>

namespace tessera {

/// Copies as much of a text in UTF-8 as there is room for, in whole characters, and a null character.
inline void cut_text(std::string_view text, std::span<char> room) noexcept {
  std::size_t length = std::min(text.size(), room.size() - 1);
  const auto continues = [&](std::size_t at) { return (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80; };
  while (length > 0 && length < text.size() && continues(length)) --length;
  std::memcpy(room.data(), text.data(), length);
  room[length] = '\0';
}

} // namespace tessera
