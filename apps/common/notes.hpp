#pragma once

/// What the programs say on stderr: errors, remarks, progress. It is of less worth than what they compute, so that a
/// stderr that cannot be written to (full, closed, a pipe whose reader is gone) changes neither the results nor the
/// exit status.

#include <exception>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace tessera::apps {

/// Opens the null device under each of the numbers 0, 1 and 2 that is not open, so that no file gets such a number, and
/// with it what is meant for a standard stream. Writing to such a stream fails, as writing to a closed one does. The
/// first call of main().
void open_standard_streams() noexcept;

/// Writes the text to stderr as far as that can be done. No signal comes of it, and errno stays.
void note_text(std::string_view text) noexcept;

/// Formats a text as fmt::print does and writes it to stderr.
template <class... T>
void note(fmt::format_string<T...> form, T&&... values) noexcept {
  try {
    note_text(fmt::format(form, std::forward<T>(values)...));
  } catch (const std::exception&) { // out of memory
    note_text("(there is no memory for a message)\n");
  }
}

/// Writes "PROGRAM: what the error says" to stderr.
void note_error(const char* program, const std::exception& error) noexcept;

} // namespace tessera::apps
