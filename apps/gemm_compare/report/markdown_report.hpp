#pragma once

/// Tables for a README.

#include <string>

#include "document.hpp"

namespace tessera::report {

/// Writes a line about the machine, a table for each product (kernels from the first rung up, the best one in bold),
/// the grades, and the failing entries with the commands that show them again. Throws DocumentError if the document has
/// another schema.
std::string markdown_report(const Json& document);

} // namespace tessera::report
