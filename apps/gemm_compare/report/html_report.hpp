#pragma once

/// One self-contained page: no network, no file beside it.

#include <string>

#include "document.hpp"

namespace tessera::report {

/// Throws DocumentError if the document is none of this schema.
std::string html_report(const Json& document);

} // namespace tessera::report
