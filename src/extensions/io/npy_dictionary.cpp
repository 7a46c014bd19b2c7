#include "npy_dictionary.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace tessera::io {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Reads the text from its begin to its end. A function that returns false, or nothing, has met what it does not know.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  bool read(NpyDictionary& dictionary) {
    int brackets = 0;
    while (take('(')) ++brackets;
    if (!take('{')) return false;
    while (!take('}')) {
      if (!read_item(dictionary)) return false;
      if (!take(',') && !at('}')) return false;
    }
    while (brackets > 0 && take(')')) --brackets;
    skip_blanks();
    return brackets == 0 && rest_.empty();
  }

 private:
  static constexpr int deepest = 64; ///< brackets in brackets

  void skip_blanks() {
    for (;;) {
      rest_.remove_prefix(std::min(rest_.size(), rest_.find_first_not_of(" \t\r\n\f\\")));
      if (!rest_.starts_with('#')) return;
      rest_.remove_prefix(std::min(rest_.size(), rest_.find('\n')));
    }
  }
  bool at(char c) {
    skip_blanks();
    return rest_.starts_with(c);
  }
  bool take(char c) {
    if (!at(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  std::string_view take_word() {
    skip_blanks();
    const auto end = std::find_if_not(rest_.begin(), rest_.end(), is_word);
    const auto word = rest_.substr(0, static_cast<std::size_t>(end - rest_.begin()));
    rest_.remove_prefix(word.size());
    return word;
  }

  bool read_item(NpyDictionary& dictionary) {
    NpyValue key, value;
    if (!read_value(key, 0) || !key.text || !take(':') || !read_value(value, 0)) return false;
    if (*key.text == "descr")
      dictionary.descr = std::move(value);
    else if (*key.text == "fortran_order")
      dictionary.fortran_order = std::move(value);
    else if (*key.text == "shape")
      dictionary.shape = std::move(value);
    return true;
  }

  bool read_value(NpyValue& value, int depth) {
    skip_blanks();
    if (rest_.empty() || depth > deepest) return false;
    const char first = rest_.front();
    if (first == '(' || first == '[' || first == '{') return read_brackets(value, depth);
    if (first == '\'' || first == '"') return read_string(value);
    if (first == '+' || first == '-' || std::isdigit(static_cast<unsigned char>(first)) != 0) return read_number(value);
    const std::string_view word = take_word();
    if (word.empty()) return false;
    if (word.size() <= 2 && (rest_.starts_with('\'') || rest_.starts_with('"'))) { // u'', r'', b''
      if (!read_string(value)) return false;
      if (word.find_first_of("bB") != std::string_view::npos) value.text.reset();
      return true;
    }
    if (word == "True" || word == "False") value.truth = word == "True";
    return word == "True" || word == "False" || word == "None";
  }

  bool read_string(NpyValue& value) {
    const char quote = rest_.front();
    const std::size_t end = rest_.find(quote, 1);
    if (end == std::string_view::npos) return false;
    value.text = std::string(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return value.text->find('\\') == std::string::npos;
  }

  bool read_number(NpyValue& value) {
    bool negative = false;
    for (; at('+') || at('-'); rest_.remove_prefix(1)) negative ^= rest_.front() == '-';
    std::string digits(take_word());
    std::erase(digits, '_');
    if (digits.ends_with('L')) digits.pop_back();
    int base = 10;
    for (const auto& [prefix, of_prefix] : {std::pair{'x', 16}, std::pair{'o', 8}, std::pair{'b', 2}})
      if (digits.size() > 2 && digits[0] == '0' && (digits[1] | 0x20) == prefix) base = of_prefix;
    if (base != 10) digits.erase(0, 2);
    Index number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
    if (error != std::errc{} || end != digits.data() + digits.size() || number < 0) return false;
    value.sizes = {negative && number > 0 ? Index{-1} : number};
    return true;
  }

  /// A tuple, or one value in brackets, or a list or a dictionary, which are passed over.
  bool read_brackets(NpyValue& value, int depth) {
    const char open = rest_.front();
    rest_.remove_prefix(1);
    const char close = open == '(' ? ')' : open == '[' ? ']' : '}';
    std::vector<Index> sizes;
    bool all_sizes = true, has_comma = false;
    NpyValue last;
    int count = 0;
    for (; !take(close); ++count) {
      if (count > 0 && !has_comma) return false;
      last = {};
      if (!read_value(last, depth + 1)) return false;
      all_sizes = all_sizes && last.sizes && !last.is_tuple;
      if (all_sizes) sizes.push_back(last.sizes->front());
      has_comma = take(',');
      if (!has_comma && open == '{' && take(':')) has_comma = true;
      if (!has_comma && !at(close)) return false;
    }
    if (open == '(' && count == 1 && !has_comma) {
      value = std::move(last);
      return true;
    }
    value.is_tuple = open == '(';
    if (value.is_tuple && all_sizes) value.sizes = std::move(sizes);
    return true;
  }

  std::string_view rest_;
};

} // namespace

std::optional<NpyDictionary> parse_npy_dictionary(std::string_view text) {
  NpyDictionary dictionary;
  if (!Reader(text).read(dictionary)) return std::nullopt;
  return dictionary;
}

} // namespace tessera::io
