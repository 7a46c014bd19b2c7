#pragma once

/// Text for a page. Whatever comes from a document goes through escaped().

#include <string>
#include <string_view>

#include "document.hpp"

namespace tessera::report {

/// Safe between tags and in a quoted attribute.
std::string escaped(std::string_view text);

/// The class that carries a backend's colour and its marker: "b-cuda"; "b-other" for one that the style does not know.
std::string_view backend_class(const std::string& backend);

/// What hovering over the mark of a row says.
std::string mark_title(const Row& row, const Run& run);

} // namespace tessera::report
