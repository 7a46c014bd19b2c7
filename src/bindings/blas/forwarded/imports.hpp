#pragma once

/// The functions that a loaded library takes from others, or from itself through the dynamic linker.

#include <link.h>
#include <string>
#include <vector>

namespace tessera::blas {

/// One function, and where the library has its address.
struct Import {
  const char* name;
  void** address;
};

/// Returns the imports of the library, in the order of its tables. The library must stay loaded while they are used.
///
/// Source: System V ABI, dynamic linking: the relocations of DT_JMPREL and DT_RELA that fill in an address by name.
std::vector<Import> imports_of(const link_map& library);

/// An import, and the function that it gets.
struct Binding {
  void** address;
  void* function;
};

/// Gives imports of the library new functions. Tables that the dynamic linker has made read-only are opened for that.
/// Returns what failed, or an empty text.
std::string bind_imports(const link_map& library, const std::vector<Binding>& bindings);

} // namespace tessera::blas
