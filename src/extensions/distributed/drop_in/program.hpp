#pragma once

/// What the drop-in uses of the program's ScaLAPACK. Functions are looked up where the linker would look for the
/// caller: in the program and its libraries, and in the libraries that the caller is linked with, which an interpreter
/// such as Python loads for it alone.

#include <dlfcn.h>
#include <link.h>
#include <cstdint>
#include <string>

#include <tessera/status.hpp>

namespace tessera::drop_in {

class Program {
 public:
  /// `caller` is an address within the caller's code.
  explicit Program(const void* caller) {
    Dl_info where{};
    void* object = nullptr;
    if (dladdr1(caller, &where, &object, RTLD_DL_LINKMAP) == 0) return;
    const char* const name = static_cast<const link_map*>(object)->l_name;
    handle_ = dlopen(*name == '\0' ? nullptr : name, RTLD_LAZY | RTLD_NOLOAD);
  }
  ~Program() {
    if (handle_ != nullptr) dlclose(handle_);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// Throws BackendUnavailable if the program has no such function.
  template <class Function>
  Function* find(const char* name) const {
    if (void* const found = find_or_null(name)) return reinterpret_cast<Function*>(found);
    throw BackendUnavailable(std::string("libtessera_scalapack: the program has no ") + name +
                             "; link it with ScaLAPACK (Debian: libscalapack-openmpi-dev or libscalapack-mpich-dev)");
  }

  /// Returns ScaLAPACK's own function of a name that this library has, too; null: none. It comes after this library
  /// where the drop-in was loaded first, and before it in a program that was linked with ScaLAPACK first and calls the
  /// names with a prefix.
  void* own(const char* name) const {
    for (void* const found : {dlsym(RTLD_NEXT, name), dlsym(RTLD_DEFAULT, name), of_caller(name)})
      if (found != nullptr && !is_of_drop_in(found)) return found;
    return nullptr;
  }

  /// Is it a ScaLAPACK of 64-bit integers, which has the same names? numroc_ computes how many of 5 indices the first
  /// of two processes has, in blocks of a size that is 1 in its lower half: 3, or all of them in one large block.
  bool has_wide_integers() const {
    using Numroc = std::int32_t(const std::int64_t*, const std::int64_t*, const std::int64_t*, const std::int64_t*,
                                const std::int64_t*);
    static const std::int64_t count = 5, block = (std::int64_t{1} << 32) + 1, zero = 0, processes = 2;
    void* const numroc = find_or_null("numroc_");
    return numroc != nullptr && reinterpret_cast<Numroc*>(numroc)(&count, &block, &zero, &zero, &processes) == count;
  }

 private:
  void* of_caller(const char* name) const { return handle_ == nullptr ? nullptr : dlsym(handle_, name); }
  void* find_or_null(const char* name) const {
    void* const found = dlsym(RTLD_DEFAULT, name);
    return found != nullptr ? found : of_caller(name);
  }
  static bool is_of_drop_in(void* function) {
    static const char mark = 0;
    Dl_info found{}, here{};
    return dladdr(function, &found) != 0 && dladdr(&mark, &here) != 0 && found.dli_fbase == here.dli_fbase;
  }

  void* handle_ = nullptr;
};

} // namespace tessera::drop_in
