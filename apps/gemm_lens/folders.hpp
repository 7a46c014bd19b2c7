#pragma once

/// Where the lens finds what it compiles with: beside the installed program, or in the trees that it was built from.

#include <filesystem>
#include <vector>

namespace tessera::lens {

struct Folders {
  std::filesystem::path headers;  ///< the lens' headers of CUDA
  std::filesystem::path runtime;  ///< its run-time library, a file
  std::filesystem::path backends; ///< the folder with cuda/gemm/textbook
  std::filesystem::path include;  ///< the folder with tessera/
};

/// Returns the folders. Throws IoError if the run-time library or the headers are missing.
Folders find_folders();

} // namespace tessera::lens
