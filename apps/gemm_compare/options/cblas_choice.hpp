#pragma once

#include <string>

namespace tessera::compare_app {

/// Tells the CPU backends through TESSERA_CBLAS which CBLAS libraries to open. Call it before they are loaded.
/// `choice`: "none"; "auto" for every common library that can be opened, unless the variable is set already; or a list
/// of files, separated by commas. Throws InvalidArgument if a file of the list cannot be opened.
void choose_cblas(const std::string& choice);

} // namespace tessera::compare_app
