#include "loaded.hpp"

#include <dlfcn.h>

namespace tessera::blas {

LoadedObject object_at(const void* address) {
#if defined(DLFO_STRUCT_HAS_EH_DBASE) // glibc 2.35 and later, which answers in a few nanoseconds
  dl_find_object found;               // all that is used of it is written
  if (_dl_find_object(const_cast<void*>(address), &found) != 0) return {};
  return {found.dlfo_link_map, reinterpret_cast<std::uintptr_t>(found.dlfo_map_start),
          reinterpret_cast<std::uintptr_t>(found.dlfo_map_end)};
#else
  Dl_info where{};
  void* map = nullptr;
  if (dladdr1(address, &where, &map, RTLD_DL_LINKMAP) == 0) return {};
  const auto base = reinterpret_cast<std::uintptr_t>(where.dli_fbase);
  return {static_cast<const link_map*>(map), base, base};
#endif
}

Held::Held(const char* name) : handle_(dlopen(*name == '\0' ? nullptr : name, RTLD_LAZY | RTLD_NOLOAD)) {}
Held::~Held() {
  if (handle_ != nullptr) dlclose(handle_);
}
void* Held::find(const char* symbol) const { return handle_ == nullptr ? nullptr : dlsym(handle_, symbol); }

bool is_own(const void* function) {
  return object_at(function).map == object_at(reinterpret_cast<const void*>(&is_own)).map;
}

const char* name_at(const void* address) {
  const LoadedObject object = object_at(address);
  if (object.map == nullptr) return "code that belongs to no library";
  return *object.name() == '\0' ? "the program" : object.name();
}

} // namespace tessera::blas
