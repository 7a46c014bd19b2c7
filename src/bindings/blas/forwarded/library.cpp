#include "library.hpp"

#include <dlfcn.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include <tessera/backend/environment.hpp>
#include <tessera/backend/log.hpp>

#include "bindings/blas/brought.hpp"
#include "bindings/blas/loaded.hpp"
#include "imports.hpp"

namespace tessera::blas {
namespace {

#if defined(__aarch64__)
#define TESSERA_SYSTEM_LIBRARIES "/usr/lib/aarch64-linux-gnu/"
#else
#define TESSERA_SYSTEM_LIBRARIES "/usr/lib/x86_64-linux-gnu/"
#endif
// Debian's reference LAPACK has a folder of its own, while liblapack.so.3 is the alternative that was chosen.
#if defined(TESSERA_BLAS_64)
constexpr const char* variable = "TESSERA_LAPACK64";
constexpr int wanted_bits = 64;
constexpr const char* debian_package = "liblapack64-3";
constexpr const char* usual_names[] = {TESSERA_SYSTEM_LIBRARIES "lapack64/liblapack64.so.3", "liblapack64.so.3"};
#else
constexpr const char* variable = "TESSERA_LAPACK";
constexpr int wanted_bits = 32;
constexpr const char* debian_package = "liblapack3";
constexpr const char* usual_names[] = {TESSERA_SYSTEM_LIBRARIES "lapack/liblapack.so.3", "liblapack.so.3"};
#endif

using Handler = void(const char* routine, const void* position, std::size_t length);
Handler* wheel_handler = nullptr;

/// Returns a function that is not this library's: of the caller and what it is linked with, or of the process; null:
/// there is none. The caller comes first, because a second copy of this library would lead back to this one.
void* displaced(const char* symbol, const void* caller) {
  const LoadedObject object = object_at(caller);
  const Held library(object.name());
  for (void* const found :
       {object.map != nullptr ? library.find(symbol) : nullptr, dlsym(RTLD_NEXT, symbol), dlsym(RTLD_DEFAULT, symbol)})
    if (found != nullptr && !is_own(found)) return found;
  return nullptr;
}

/// The xerbla_ of the LAPACK. The reference's own one would end the process. The handler of the wheel's OpenBLAS hears
/// of the argument, as it does without this library.
void hear(const char* routine, const std::int32_t* position, std::size_t length) {
  if (wheel_handler != nullptr) return wheel_handler(routine, position, length);
  std::fprintf(stderr, " ** On entry to %.*s parameter number %d had an illegal value\n", static_cast<int>(length),
               routine, static_cast<int>(*position));
}

/// Returns how wide the integers of a LAPACK are. The orders of a 1×1 matrix are 1 in their lower halves and negative
/// as a whole, so that 64-bit integers set no element.
int bits_of_integers(void* dlaset) {
  const std::int64_t order = static_cast<std::int64_t>(0xffffffff00000001), ld = 1;
  const double off_diagonal = 0, diagonal = 1;
  double a = 0;
  using Set = void(const char*, const std::int64_t*, const std::int64_t*, const double*, const double*, double*,
                   const std::int64_t*, std::size_t);
  reinterpret_cast<Set*>(dlaset)("U", &order, &order, &off_diagonal, &diagonal, &a, &ld, 1);
  return a == 1 ? 32 : 64;
}

/// Returns what the LAPACK calls in place of the functions that it imports: this library's BLAS, also where the process
/// has another one; this library's routines of LAPACK; its own other routines; hear().
std::vector<Binding> bindings_of(const std::vector<Import>& imports, void* lapack, const link_map* map) {
  const Held self(object_at(reinterpret_cast<const void*>(&hear)).name());
  std::vector<Binding> bindings;
  for (const Import& import : imports) {
    void* const ours = self.find((std::string(import.name) + TESSERA_BLAS_TEXT(TESSERA_BLAS_NAME())).c_str());
    void* const theirs = dlsym(lapack, import.name);
    if (std::strcmp(import.name, "xerbla_") == 0)
      bindings.push_back({import.address, reinterpret_cast<void*>(&hear)});
    else if (ours != nullptr && is_own(ours))
      bindings.push_back({import.address, ours});
    else if (theirs != nullptr && object_at(theirs).map == map)
      bindings.push_back({import.address, theirs});
  }
  return bindings;
}

/// Returns a function that a LAPACK on another library's BLAS imports and this one does not; null: there is none.
const char* missing_import(const std::vector<Import>& imports) {
  for (const char* const name :
       {"xerbla_", "sgemm_", "dgemm_", "cgemm_", "zgemm_", "sgemv_", "dgemv_", "cgemv_", "zgemv_", "strsm_", "dtrsm_",
        "ctrsm_", "ztrsm_", "strmm_", "dtrmm_", "ctrmm_", "ztrmm_"}) {
    bool found = false;
    for (const Import& import : imports) found = found || std::strcmp(import.name, name) == 0;
    if (!found) return name;
  }
  return nullptr;
}

/// Makes the loaded library the LAPACK on this library's BLAS. Returns why it cannot be, or an empty text.
std::string adopt(void* library) {
  void* const dlaset = dlsym(library, "dlaset_");
  if (dlaset == nullptr) return "it has no dlaset_";
  if (const int bits = bits_of_integers(dlaset); bits != wanted_bits)
    return "its integers have " + std::to_string(bits) + " bits, and the caller's have " + std::to_string(wanted_bits);
  const link_map* const map = object_at(dlaset).map;
  const std::vector<Import> imports = imports_of(*map);
  if (const char* const missing = missing_import(imports))
    return std::string("its calls of ") + missing + " do not go through the dynamic linker";
  return bind_imports(*map, bindings_of(imports, library, map));
}

struct Lapack {
  void* library = nullptr; ///< null: the wheels keep their own
  std::string name;
  bool is_named = false; ///< by the user
};

/// Loads a LAPACK. Returns why it cannot be used, or an empty text.
std::string load(const char* name, Lapack& lapack) {
  const Bringing bringing;
  void* const library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const reason = dlerror(); // begins with the name, mostly
    if (reason == nullptr) return "it cannot be loaded";
    const std::size_t begin = std::strlen(name);
    return std::strncmp(reason, name, begin) == 0 && std::strncmp(reason + begin, ": ", 2) == 0 ? reason + begin + 2
                                                                                                : reason;
  }
  if (std::string reason = adopt(library); !reason.empty()) {
    dlclose(library);
    return reason;
  }
  lapack.library = library;
  const link_map* const map = object_at(dlsym(library, "dlaset_")).map;
  lapack.name = map->l_name;
  bringing.remember(*map);
  return {};
}

[[noreturn]] void end(const std::string& reason) {
  std::fprintf(stderr, "tessera: %s\n", reason.c_str());
  std::abort();
}

Lapack choose(const void* caller) {
  constexpr const char* handler = TESSERA_BLAS_TEXT(TESSERA_BLAS_NAME(scipy_xerbla_));
  void* const of_program = dlsym(RTLD_DEFAULT, handler); // which the wheel's OpenBLAS would call, too
  wheel_handler = reinterpret_cast<Handler*>(of_program != nullptr ? of_program : displaced(handler, caller));
  Lapack lapack;
  const char* const wanted = trusted_variable(variable);
  if (wanted != nullptr && std::strcmp(wanted, "none") == 0) return lapack;
  if (wanted != nullptr && *wanted != '\0') {
    lapack.is_named = true;
    const std::string reason = load(wanted, lapack);
    if (!reason.empty())
      end(std::string(variable) + "=" + wanted + ": this LAPACK cannot be used: " + reason +
          ". Name the file of a LAPACK with " + std::to_string(wanted_bits) +
          "-bit integers that calls its BLAS through the dynamic linker, such as " + usual_names[0] +
          " of the Debian package " + debian_package + ", or 'none' for the wheels' own");
    return lapack;
  }
  std::string reasons;
  for (const char* const name : usual_names) {
    const std::string reason = load(name, lapack);
    if (reason.empty()) return lapack;
    reasons += std::string("; ") + name + ": " + reason;
  }
  if (log_dispatch())
    log_line("BLAS: the wheels keep their own LAPACK with " + std::to_string(wanted_bits) + "-bit integers" + reasons +
             ". The Debian package " + debian_package + " has one for this library, and " + variable +
             " names another");
  return lapack;
}

} // namespace

void* lapack_routine(const char* name, const char* scipy_name, const void* caller) try {
  static const Lapack lapack = choose(caller);
  if (void* const found = lapack.library != nullptr ? dlsym(lapack.library, name) : nullptr) {
    if (log_dispatch()) log_line(std::string("BLAS: ") + scipy_name + " goes to " + name + " of " + lapack.name);
    return found;
  }
  if (lapack.is_named)
    end(std::string(variable) + ": " + lapack.name + " has no " + name + ", which " + name_at(caller) +
        " calls; name a newer LAPACK");
  void* const own = displaced(scipy_name, caller);
  if (own == nullptr)
    end(std::string(scipy_name) + " was called by " + name_at(caller) + ", and the process has no library with it");
  dlopen(object_at(own).name(), RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE); // later calls jump there
  if (log_dispatch()) log_line(std::string("BLAS: ") + scipy_name + " stays the one of " + name_at(own));
  return own;
} catch (const std::exception& lack) { // of memory
  end(std::string(scipy_name) + ": " + lack.what());
}

} // namespace tessera::blas
