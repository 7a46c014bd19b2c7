#pragma once

/// The libraries of the process, as the dynamic linker knows them.

#include <link.h>
#include <cstdint>

namespace tessera::blas {

/// A library or the program, and the addresses at which it lies.
struct LoadedObject {
  const link_map* map = nullptr; ///< null: the address belongs to none
  std::uintptr_t begin = 0, end = 0;

  const char* name() const { return map != nullptr ? map->l_name : ""; } ///< empty for the program itself
};
LoadedObject object_at(const void* address);

/// Holds a loaded library, so that its functions can be looked up. It loads nothing.
class Held {
 public:
  explicit Held(const char* name); ///< "" is the program
  ~Held();
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  /// Returns the function of the library or of a library that it is linked with, in the linker's order; null: none.
  void* find(const char* symbol) const;

 private:
  void* handle_;
};

/// Does the function belong to this library?
bool is_own(const void* function);

/// Returns how messages name the object at the address.
const char* name_at(const void* address);

} // namespace tessera::blas
