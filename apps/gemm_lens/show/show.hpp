#pragma once

/// A report as a table for a terminal, as JSON and as a page.

#include <string>

#include "gemm_lens/report.hpp"

namespace tessera::lens {

std::string table(const Report& report);
/// The document that docs/lens.md describes.
std::string json(const Report& report);
/// A page without anything from elsewhere.
std::string html(const Report& report);

} // namespace tessera::lens
