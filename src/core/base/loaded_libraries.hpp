#pragma once

/// The libraries of this process.

#include <string>
#include <vector>

namespace tessera {

/// Returns the names under which the libraries of the process are loaded now, the program's own left out. Throws
/// std::bad_alloc.
std::vector<std::string> loaded_library_names();

} // namespace tessera
