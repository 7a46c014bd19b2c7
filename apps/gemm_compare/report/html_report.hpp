#pragma once

/// Makes one self-contained page, which needs no network and no other file.

#include <string>

#include "document.hpp"

namespace tessera::report {

/// Throws DocumentError if the document has another schema.
std::string html_report(const Json& document);

} // namespace tessera::report
