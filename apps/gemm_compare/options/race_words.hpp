#pragma once

/// The options of a race, which other tasks of gemm_compare refuse.

#include <initializer_list>
#include <string_view>

#include "options_parse.hpp"

namespace tessera::compare_app {

/// Throws InvalidArgument if an option was given that is not among `taken`: "--csv: makes no sense with " and `task`.
void refuse_words_of_races(const CommandLine& words, std::initializer_list<std::string_view> taken,
                           std::string_view task);

} // namespace tessera::compare_app
