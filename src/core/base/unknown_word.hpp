#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tessera {

/// Returns the text of an error: "unknown <what> '<word>'; did you mean '…'? Known: …" with the nearest known word and
/// then all of them.
std::string unknown_word(std::string_view what, std::string_view word, const std::vector<std::string>& known);

} // namespace tessera
