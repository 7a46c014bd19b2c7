#pragma once

/// What the streams of this process can show.

#include <cstdio>
#include <string>

namespace tessera::apps {

/// A terminal, and NO_COLOR is not set to anything.
bool shows_colour(std::FILE* stream);
bool is_terminal(std::FILE* stream);

enum class Style { Plain, Bold, Dim, Green, Red, Yellow };

/// The text with its style, or as it is where `enabled` is false.
std::string styled(const std::string& text, Style style, bool enabled);

/// Columns that UTF-8 text takes, with one a code point.
std::size_t display_width(const std::string& text);
std::string pad_left(const std::string& text, std::size_t width);
std::string pad_right(const std::string& text, std::size_t width);

} // namespace tessera::apps
