#pragma once

/// The journal of a product of files: what is computed, and which blocks of it are on the disk.
///
/// It is text. Its first line is "tessera product 1"; the next ones are "NAME: VALUE", one for each fact; then comes a
/// line "done N" for each block. A line is added only when the block's elements are on the disk. A last line without an
/// end was being written when the program was killed, and does not count.

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tessera/types.hpp>

namespace tessera::files {

using Facts = std::vector<std::pair<std::string, std::string>>;

/// What a journal says.
struct Recorded {
  Facts facts;
  std::vector<Index> done;
  std::size_t bytes = 0; ///< of the complete lines
};

/// Reads a journal's text. Throws InvalidArgument, whose text says what is wrong with it.
Recorded parse_journal(std::string_view text);
/// Returns the text of a journal without blocks.
std::string journal_of(const Facts& facts);

/// Returns the value of a fact; empty if there is none.
std::string_view value_of(const Facts& facts, std::string_view name);
/// Returns "NAME was X when the product began and is Y now" for the first fact that differs; empty if none does. Facts
/// in `free` may differ.
std::string difference(const Facts& recorded, const Facts& now, std::span<const std::string_view> free);

} // namespace tessera::files
