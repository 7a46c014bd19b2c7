#pragma once

/// A library of the vendor's, opened when a row first asks for it: the plug-in links none.

#include <dlfcn.h>

#include <string>

namespace tessera::cuda {

struct VendorLibrary {
  const char* title;    ///< for messages
  const char* variable; ///< of the environment: names the file to use, and then no other is tried
  const char* stem; ///< "libcublas": <stem>.so.13 and .12 are looked for by the loader, and in /usr/local/cuda/lib64
};

/// Null, and then `missing` says why and what to do. Never closed.
void* open_library(const VendorLibrary& wanted, std::string& missing);

/// What the dynamic loader last complained of.
std::string loader_error();

/// Sets `function` to the symbol; false if the library lacks it.
template <class Function>
bool find_symbol(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

} // namespace tessera::cuda
