#pragma once

/// Reads words and numbers from the command line. Errors are InvalidArgument; they name the option and the word given.

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/types.hpp>

namespace tessera::apps {

/// Splits a list: "a,b,c" → a, b, c. Throws if a word is empty, as in "a,,b" and "a,".
std::vector<std::string> split_list(std::string_view option, std::string_view text);

Index parse_index(std::string_view option, std::string_view text, Index least);
double parse_real(std::string_view option, std::string_view text);

/// Reads a list: "256,512" → 256 and 512. Throws if a number is less than `least`.
std::vector<Index> parse_index_list(std::string_view option, std::string_view text, Index least);

/// Reads the sizes of a shape of any number of dimensions: "4096x16" → 4096 and 16. Throws if a number is less than
/// `least`.
std::vector<Index> parse_shape(std::string_view option, std::string_view text, Index least);

/// Reads m, n and k: "4096x16x4096". Throws if a number is less than `least`.
std::array<Index, 3> parse_sizes(std::string_view option, std::string_view text, Index least);

/// Returns the index of `word` in `known`. Throws with the nearest known word if it is not there.
std::size_t choose(std::string_view option, const std::string& word, const std::vector<std::string>& known);

/// Returns whether the word matches a shell pattern with *, ? and [abc].
bool matches_glob(const std::string& pattern, const std::string& word);

/// Returns all words with the separator between them.
std::string joined(const std::vector<std::string>& words, std::string_view separator);

} // namespace tessera::apps
