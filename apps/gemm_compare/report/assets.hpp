#pragma once

/// Files of this folder that the page carries, embedded at build time by cmake/TesseraEmbed.cmake.

#include <string_view>

namespace tessera::report::assets {

std::string_view report_css();
std::string_view report_js();

} // namespace tessera::report::assets
