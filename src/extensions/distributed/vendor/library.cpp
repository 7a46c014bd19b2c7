#include "library.hpp"

#include <dlfcn.h>

namespace tessera::distributed {

VendorLibrary::VendorLibrary(const char* title, std::initializer_list<const char*> files) : title_(title) {
  for (const char* file : files) {
    library_ = dlopen(file, RTLD_LAZY | RTLD_LOCAL);
    if (library_ != nullptr) return;
    const char* const why = dlerror();
    missing_ += (missing_.empty() ? "" : "; ") + std::string(why != nullptr ? why : file);
  }
  missing_ = "no " + title_ + " was found (" + missing_ + "); put its folder into LD_LIBRARY_PATH";
}

void* VendorLibrary::symbol(const char* name) {
  if (library_ == nullptr) return nullptr;
  void* const found = dlsym(library_, name);
  if (found == nullptr && missing_.empty()) missing_ = "this " + title_ + " has no " + name;
  return found;
}

Status vendor_status(int status, const char* function) {
  if (status == 0) return {};
  return {StatusCode::DeviceError, std::string(function) + ": status " + std::to_string(status)};
}

} // namespace tessera::distributed
