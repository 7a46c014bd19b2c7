#pragma once

/// The charts of the page. Each is a function from a run to a <section>, empty where the run has nothing to show in
/// it; page.cpp lists them.

#include <string>

#include "report/document.hpp"

namespace tessera::report {

/// Of each product, every kernel as a bar: its speed, its share of the ceiling, its gain over the first rung.
std::string ladder_section(const Run& run);
/// Of each backend and type, the time of every kernel over the size of square products.
std::string size_section(const Run& run);
/// Speed over operations per byte, under the measured ceilings.
std::string roofline_section(const Run& run);
/// Mean relative error over speed.
std::string error_section(const Run& run);
/// Of kernels that were run at several square sizes, how the error grows, and their grade.
std::string grades_section(const Run& run);
/// From which size on the graphics card pays, with and without the transfers.
std::string offload_section(const Run& run);

} // namespace tessera::report
