#pragma once

/// Opens a library of NVIDIA's when a kernel, or another program's yardstick, first asks for it. No program links them.

#include <dlfcn.h>

#include <string>

namespace tessera::cuda {

struct VendorLibrary {
  const char* title;    ///< Name in messages.
  const char* variable; ///< Environment variable that names the file to use. If it is set, no other file is tried.
  /// E.g. "libcublas": <stem>.so.13 and .12 are tried in the absolute folders of TESSERA_CUBLAS_PATH, then where the
  /// dynamic loader looks, then in /usr/local/cuda/lib64.
  const char* stem;
  int newest = 13;                       ///< The version that is tried first; the one before is tried next.
  const char* package = "nvidia-cublas"; ///< Python's package of it.
};

/// Opens the library; it is never closed. Returns null if it cannot be opened; `missing` then says why and what to do.
void* open_library(const VendorLibrary& wanted, std::string& missing);

/// Returns the text of the dynamic loader's last error.
std::string loader_error();

/// Sets `function` to the symbol `name`. Returns false if the library lacks it.
template <class Function>
bool find_symbol(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

} // namespace tessera::cuda
