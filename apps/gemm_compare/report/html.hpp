#pragma once

/// Text for a page. All text that comes from a document must go through escaped().

#include <string>
#include <string_view>

#include "document.hpp"

namespace tessera::report {

/// The text as it is safe between tags and in a quoted attribute.
std::string escaped(std::string_view text);

/// The class that carries a backend's colour and its marker, "b-cuda"; "b-other" for a backend without a colour.
std::string_view backend_class(const std::string& backend);

/// Content that is hidden until the reader opens it. The summary is text, the content HTML.
std::string folded(std::string_view summary, const std::string& content);

/// The text that appears when the pointer is over the mark of an entry.
std::string mark_title(const Entry& entry, const Run& run);

} // namespace tessera::report
