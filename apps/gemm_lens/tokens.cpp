#include "tokens.hpp"

#include <algorithm>
#include <cctype>

namespace tessera::lens {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c < 0; }
bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

/// Returns the end of the string or character that begins with the quote at `at`.
std::size_t end_of_quoted(std::string_view text, std::size_t at) {
  const char quote = text[at];
  for (++at; at < text.size() && text[at] != quote && text[at] != '\n'; ++at)
    if (text[at] == '\\') ++at;
  return std::min(at + 1, text.size());
}

/// Returns the end of the raw string whose quote is at `at`.
std::size_t end_of_raw(std::string_view text, std::size_t at) {
  const std::size_t open = text.find('(', at);
  if (open == text.npos) return text.size();
  const std::string close = ")" + std::string(text.substr(at + 1, open - at - 1)) + "\"";
  const std::size_t end = text.find(close, open);
  return end == text.npos ? text.size() : end + close.size();
}

bool is_string_prefix(std::string_view word) {
  return word == "R" || word == "L" || word == "u" || word == "U" || word == "u8" || word == "LR" || word == "uR" ||
         word == "UR" || word == "u8R";
}

/// Returns the end of a number, in which quotes separate digits.
std::size_t end_of_number(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    const char c = text[at];
    const bool signed_exponent =
        (c == '+' || c == '-') && at > 0 &&
        (text[at - 1] == 'e' || text[at - 1] == 'E' || text[at - 1] == 'p' || text[at - 1] == 'P');
    const bool separator = c == '\'' && at + 1 < text.size() && is_word(text[at + 1]);
    if (!is_word(c) && c != '.' && !signed_exponent && !separator) break;
    ++at;
  }
  return at;
}

} // namespace

std::vector<Token> tokens_of(std::string_view text) {
  std::vector<Token> tokens;
  int line = 1;
  bool system = false, line_begins = true;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    std::size_t end = at + 1;
    TokenKind kind = TokenKind::Mark;
    if (c == '#' && line_begins) {
      kind = TokenKind::Directive;
      end = std::min(text.find('\n', at), text.size());
      const std::string_view whole = text.substr(at, end - at);
      if (whole.size() > 2 && whole[1] == ' ' && std::isdigit(static_cast<unsigned char>(whole[2])) != 0) {
        line = std::atoi(std::string(whole.substr(2)).c_str()) - 1; // the marker's own end of line counts
        const std::size_t quote = whole.rfind('"');
        system = quote != whole.npos && whole.find(" 3", quote) != whole.npos;
      }
    } else if (is_space(c)) {
      kind = TokenKind::Space;
      if (c != '\n')
        while (end < text.size() && is_space(text[end]) && text[end] != '\n') ++end;
    } else if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      kind = TokenKind::Literal;
      end = end_of_number(text, at);
    } else if (is_word(c)) {
      kind = TokenKind::Word;
      while (end < text.size() && is_word(text[end])) ++end;
      const std::string_view word = text.substr(at, end - at);
      if (end < text.size() && text[end] == '"' && is_string_prefix(word)) {
        kind = TokenKind::Literal;
        end = word.back() == 'R' ? end_of_raw(text, end) : end_of_quoted(text, end);
      }
    } else if (c == '"' || c == '\'') {
      kind = TokenKind::Literal;
      end = end_of_quoted(text, at);
    }
    const std::string_view whole = text.substr(at, end - at);
    tokens.push_back({kind, whole, line, system});
    line += static_cast<int>(std::count(whole.begin(), whole.end(), '\n'));
    if (c == '\n')
      line_begins = true;
    else if (kind != TokenKind::Space)
      line_begins = false;
    at = end;
  }
  return tokens;
}

} // namespace tessera::lens
