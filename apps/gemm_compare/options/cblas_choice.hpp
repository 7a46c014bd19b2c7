#pragma once

#include <string>

namespace tessera::compare_app {

/// Tells the CPU backends which CBLAS libraries to open, through TESSERA_CBLAS; call it before they are loaded.
/// `choice`: "none"; "auto": those of the usual ones that can be opened, unless the variable is set already; or a
/// list of files, parted by commas. Throws InvalidArgument if a file of the list cannot be opened.
void choose_cblas(const std::string& choice);

} // namespace tessera::compare_app
