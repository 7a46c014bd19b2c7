#pragma once

/// Libraries of NVIDIA's that yardsticks call. They are opened when an engine is first asked for by its name;
/// libtessera links none of them, and is built without their headers.

#include <initializer_list>
#include <string>

#include <tessera/status.hpp>

namespace tessera::distributed {

class VendorLibrary {
 public:
  /// Opens the first of the files that the dynamic loader finds. It is never closed.
  VendorLibrary(const char* title, std::initializer_list<const char*> files);

  /// Returns why the library cannot be used: no file, or a function that find() did not find. Empty if it can.
  const std::string& missing() const noexcept { return missing_; }
  /// Sets `function` to the function of this name.
  template <class Function>
  void find(const char* name, Function& function) {
    function = reinterpret_cast<Function>(symbol(name));
  }

 private:
  void* symbol(const char* name);

  std::string title_, missing_;
  void* library_ = nullptr;
};

/// Returns Ok for 0, else a DeviceError with the function's name and the library's status.
Status vendor_status(int status, const char* function);

} // namespace tessera::distributed
