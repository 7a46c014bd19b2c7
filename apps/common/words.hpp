#pragma once

/// Words and numbers from the command line. Errors are InvalidArgument and name the option and what it was given.

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/types.hpp>

namespace tessera::apps {

/// "a,b,,c" → a, b, c. Throws if nothing is left.
std::vector<std::string> split_list(std::string_view option, std::string_view text);

Index parse_index(std::string_view option, std::string_view text, Index least);
double parse_real(std::string_view option, std::string_view text);

/// "256,512" → 256 and 512, each at least `least`.
std::vector<Index> parse_index_list(std::string_view option, std::string_view text, Index least);

/// "4096x16x4096" → m, n and k, each at least `least`.
std::array<Index, 3> parse_sizes(std::string_view option, std::string_view text, Index least);

/// The place of a word among those that are known; throws with the nearest of them.
std::size_t choose(std::string_view option, const std::string& word, const std::vector<std::string>& known);

/// Shell pattern: *, ?, [abc].
bool matches_glob(const std::string& pattern, const std::string& word);

/// All words, with the separator between them.
std::string joined(const std::vector<std::string>& words, std::string_view separator);

} // namespace tessera::apps
