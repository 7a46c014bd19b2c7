#pragma once

/// A look at JSON text before it is parsed.

#include <algorithm>
#include <cstddef>
#include <string_view>

#include <tessera/detail/macros_off.hpp>

namespace tessera::detail {

/// Tessera's documents are nested some six deep. Functions that copy or print a document call themselves for each
/// level, and a document of 200,000 levels would overflow their stack.
inline constexpr std::size_t most_json_nesting = 64;

/// Returns how many lists and objects are open at once, at most, in JSON text.
inline std::size_t json_nesting(std::string_view text) noexcept {
  std::size_t open = 0, most = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\')
        ++i;
      else
        in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      most = std::max(most, ++open);
    } else if ((c == ']' || c == '}') && open > 0) {
      --open;
    }
  }
  return most;
}

} // namespace tessera::detail

#include <tessera/detail/macros_on.hpp>
