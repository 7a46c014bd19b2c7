#pragma once

/// Asks what a stream can show, and formats text for terminals.

#include <cstdio>
#include <string>
#include <string_view>

namespace tessera::apps {

/// Returns whether the stream is a terminal and NO_COLOR is unset or empty.
bool shows_colour(std::FILE* stream);
bool is_terminal(std::FILE* stream);
/// Returns how many columns a line on the stream may take: the terminal's width, else COLUMNS, else 80; 0, which is no
/// limit, where the stream is no terminal.
std::size_t terminal_width(std::FILE* stream);
/// Returns whether LC_ALL, LC_CTYPE or LANG, the first that is set, names UTF-8.
bool locale_is_utf8();

/// Brings what the program has printed to stdout. Throws IoError if that fails, as on a full disk, so that a program
/// whose table is lost does not end with exit status 0.
void flush_stdout();
/// Prints the text to stdout and flushes it. Throws IoError.
void print_to_stdout(std::string_view text);

enum class Style { Plain, Bold, Dim, Green, Red, Yellow };

/// Returns the text with escape codes for its style, or unchanged if `enabled` is false.
std::string styled(const std::string& text, Style style, bool enabled);

/// Returns the columns that UTF-8 text takes: two for a wide character, none for a combining one, one for each other.
std::size_t display_width(std::string_view text);
std::string pad_left(const std::string& text, std::size_t width);
std::string pad_right(const std::string& text, std::size_t width);
/// Returns the text, or as much of it as fits into `width` columns with … at its end.
std::string clipped(const std::string& text, std::size_t width);
/// Breaks the text at spaces into lines of at most `width` columns; a word that is longer is broken, too. All lines but
/// the first begin with `indent` spaces. A width of 0 is no limit.
std::string wrapped(const std::string& text, std::size_t width, std::size_t indent);

} // namespace tessera::apps
