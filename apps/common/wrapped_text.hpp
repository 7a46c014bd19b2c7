#pragma once

/// Fits text of several lines, and lines of lists, to a terminal.

#include <string>

namespace tessera::apps {

/// Wraps each line of a text such as --help. Where a line has columns, which two spaces or more separate, it goes on
/// below the last one. A width of 0 is no limit.
std::string wrapped_lines(const std::string& text, std::size_t width);

/// Returns a line of a list: short fields, padded, and the text after them. Where `width` leaves the text little room
/// beside the fields it stands below them. A width of 0 is no limit: the record is one line, which grep finds whole.
std::string wrapped_record(const std::string& fields, const std::string& text, std::size_t width);

} // namespace tessera::apps
