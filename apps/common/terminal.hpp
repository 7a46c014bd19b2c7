#pragma once

/// Asks what a stream can show, and formats text for terminals.

#include <cstdio>
#include <string>
#include <string_view>

namespace tessera::apps {

/// Returns whether the stream is a terminal and NO_COLOR is unset or empty.
bool shows_colour(std::FILE* stream);
bool is_terminal(std::FILE* stream);

/// Brings what the program has printed to stdout. Throws IoError if that fails, as on a full disk, so that a program
/// whose table is lost does not end with exit status 0.
void flush_stdout();
/// Prints the text to stdout and flushes it. Throws IoError.
void print_to_stdout(std::string_view text);

enum class Style { Plain, Bold, Dim, Green, Red, Yellow };

/// Returns the text with escape codes for its style, or unchanged if `enabled` is false.
std::string styled(const std::string& text, Style style, bool enabled);

/// Returns the columns that UTF-8 text takes, one for each code point.
std::size_t display_width(const std::string& text);
std::string pad_left(const std::string& text, std::size_t width);
std::string pad_right(const std::string& text, std::size_t width);

} // namespace tessera::apps
