#pragma once

/// Tables for a README.

#include <string>

#include "document.hpp"

namespace tessera::report {

/// A line about the machine, then a table for each product: kernels as they climb, best in bold; then the failing
/// rows with the commands that show them again. Throws DocumentError if the document is none of this schema.
std::string markdown_report(const Json& document);

} // namespace tessera::report
