#pragma once

/// The charts of the page. Each function makes a <section> from a run, or an empty text where the run has nothing to
/// show; html_report.cpp calls them.

#include <string>

#include "report/document.hpp"

namespace tessera::report {

/// A bar for every kernel of each product: its speed, its share of the ceiling, and its gain over the first rung.
std::string ladder_section(const Run& run);
/// The time of every kernel over the size of square products, for each backend and type.
std::string size_section(const Run& run);
/// Speed over operations per byte, under the measured ceilings.
std::string roofline_section(const Run& run);
/// Mean relative error over speed.
std::string error_section(const Run& run);
/// The growth of the error with n, and the grade, of kernels that were run at several square sizes.
std::string grades_section(const Run& run);
/// The size from which the GPU is faster, with and without the transfers.
std::string offload_section(const Run& run);

} // namespace tessera::report
