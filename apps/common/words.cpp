#include "words.hpp"

#include <fnmatch.h>
#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tessera/status.hpp>

namespace tessera::apps {
namespace {

template <class T>
bool parse_all(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

} // namespace

std::vector<std::string> split_list(std::string_view option, std::string_view text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (c == ',')
      words.emplace_back();
    else
      words.back() += c;
  }
  if (std::find(words.begin(), words.end(), "") != words.end())
    throw InvalidArgument(fmt::format("{}: '{}' has nothing {}; write one comma between two words", option, text,
                                      text.empty()          ? "in it"
                                      : text.front() == ',' ? "before its first comma"
                                      : text.back() == ','  ? "after its last comma"
                                                            : "between two of its commas"));
  return words;
}

Index parse_index(std::string_view option, std::string_view text, Index least) {
  Index value = 0;
  if (!parse_all(text, value)) throw InvalidArgument(fmt::format("{}: '{}' is not a whole number", option, text));
  if (value < least) throw InvalidArgument(fmt::format("{}: {} is less than {}", option, value, least));
  return value;
}

double parse_real(std::string_view option, std::string_view text) {
  double value = 0;
  if (!parse_all(text, value)) throw InvalidArgument(fmt::format("{}: '{}' is not a number", option, text));
  return value;
}

std::vector<Index> parse_index_list(std::string_view option, std::string_view text, Index least) {
  std::vector<Index> values;
  for (const std::string& word : split_list(option, text)) values.push_back(parse_index(option, word, least));
  return values;
}

std::vector<Index> parse_shape(std::string_view option, std::string_view text, Index least) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == 'x' || c == 'X')
      parts.emplace_back();
    else
      parts.back() += c;
  }
  std::vector<Index> sizes;
  for (const std::string& part : parts) sizes.push_back(parse_index(option, part, least));
  return sizes;
}

std::array<Index, 3> parse_sizes(std::string_view option, std::string_view text, Index least) {
  if (std::count_if(text.begin(), text.end(), [](char c) { return c == 'x' || c == 'X'; }) != 2)
    throw InvalidArgument(fmt::format("{}: '{}' is not MxNxK, for example 4096x16x4096", option, text));
  const std::vector<Index> sizes = parse_shape(option, text, least);
  return {sizes[0], sizes[1], sizes[2]};
}

std::size_t choose(std::string_view option, const std::string& word, const std::vector<std::string>& known) {
  const auto at = std::find(known.begin(), known.end(), word);
  if (at != known.end()) return static_cast<std::size_t>(at - known.begin());
  throw InvalidArgument(fmt::format("{}: unknown word '{}'; did you mean '{}'? Known: {}", option, word,
                                    nearest_word(word, known), joined(known, " ")));
}

bool matches_glob(const std::string& pattern, const std::string& word) {
  return fnmatch(pattern.c_str(), word.c_str(), 0) == 0;
}

std::string joined(const std::vector<std::string>& words, std::string_view separator) {
  return fmt::format("{}", fmt::join(words, separator));
}

} // namespace tessera::apps
