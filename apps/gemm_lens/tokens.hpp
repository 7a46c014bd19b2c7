#pragma once

/// C++ after the preprocessor, as a list of tokens. The texts of all tokens together are the text.

#include <string>
#include <string_view>
#include <vector>

namespace tessera::lens {

enum class TokenKind { Word, Literal, Mark, Space, Directive };

struct Token {
  TokenKind kind;
  std::string_view text;
  int line = 0;        ///< in the file that the last line marker names
  bool system = false; ///< is in a header of the system

  bool is(std::string_view other) const { return text == other && kind != TokenKind::Literal; }
};

/// Cuts the text into tokens. A mark is one character; strings and characters, raw ones too, are literals.
std::vector<Token> tokens_of(std::string_view text);

} // namespace tessera::lens
