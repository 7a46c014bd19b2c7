#pragma once

/// Pictures of a report as SVG, whose colours a page sets by classes: `ground`, `asked`, `bar`, `mark` and `ink`.

#include <string>

#include "gemm_lens/report.hpp"

namespace tessera::lens {

/// The sectors that a request of global memory touches, and the bytes of each that lanes ask for.
std::string picture_of_sectors(const Sample& sample);
/// The words of each bank that a request of shared memory needs: as many wavefronts as the highest column has.
std::string picture_of_banks(const Sample& sample);
/// The words that each bank has delivered to a line, as bars.
std::string histogram_of_banks(const LineAccess& line);
/// How often the sectors of a matrix were touched.
std::string heat_map(const Heat& heat);

/// Escapes a text for HTML.
std::string escaped(const std::string& text);

} // namespace tessera::lens
