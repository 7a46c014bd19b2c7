#include "caller.hpp"

#include <dlfcn.h>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>

#include <tessera/backend/log.hpp>

#include "brought.hpp"
#include "loaded.hpp"

namespace tessera::blas {
namespace {

/// Asks a BLAS for the place of the largest of three numbers. Their count is 3 in its lower half and negative as a
/// whole: one of 64-bit integers says that there is none, as the standard has it for negative counts.
///
/// Source: autodetection in libblastrampoline (Julia), src/autodetection.c.
Width ask(void* idamax, void* cblas_idamax) {
  static const std::int64_t count = static_cast<std::int64_t>(0xffffffff00000003), step = 1;
  static const double numbers[3] = {1, 2, 1};
  if (idamax != nullptr) {
    using Amax = std::int32_t(const std::int64_t*, const double*, const std::int64_t*);
    const std::int32_t place = reinterpret_cast<Amax*>(idamax)(&count, numbers, &step);
    return place == 2 ? Width::Narrow : place == 0 ? Width::Wide : Width::Unknown;
  }
  if (cblas_idamax == nullptr) return Width::Unknown;
  using CblasAmax = std::int32_t(std::int64_t, const double*, std::int64_t); // counts places from 0
  const std::int32_t place = reinterpret_cast<CblasAmax*>(cblas_idamax)(count, numbers, step);
  return place == 1 ? Width::Narrow : place == 0 ? Width::Wide : Width::Unknown;
}

/// Returns the function that the linker finds after this library's; null: none, or one of a drop-in too.
void* following(const char* symbol) {
  void* const found = dlsym(RTLD_NEXT, symbol);
  return found == nullptr || is_own(found) ? nullptr : found;
}

/// Returns the width of the BLAS in which `find` looks functions up.
template <class Find>
Width width_in(Find find) {
  struct Names {
    const char *idamax, *cblas_idamax;
  };
  const auto of_another = [&](const char* symbol) { // this library would ask about itself
    void* const found = find(symbol);
    return found == nullptr || !is_own(found) ? found : following(symbol);
  };
  for (const Names& names : {Names{"idamax_", "cblas_idamax"}, Names{"scipy_idamax_", "scipy_cblas_idamax"}}) {
    const Width width = ask(of_another(names.idamax), of_another(names.cblas_idamax));
    if (width != Width::Unknown) return width;
  }
  return Width::Unknown;
}

Width width_in_library(const char* name) {
  const Held library(name);
  return width_in([&](const char* symbol) { return library.find(symbol); });
}

using Path = std::array<char, 4096>;

/// Writes the path of one of the process's libraries, which are counted from 0. Returns false if there is no such one.
bool find_library(std::size_t number, Path& path) {
  struct Search {
    std::size_t left;
    Path& path;
  } search{number, path};
  const auto visit = [](dl_phdr_info* info, std::size_t, void* address) {
    auto& wanted = *static_cast<Search*>(address);
    if (wanted.left-- > 0) return 0;
    std::snprintf(wanted.path.data(), wanted.path.size(), "%s", info->dlpi_name);
    return 1;
  };
  return dl_iterate_phdr(visit, &search) != 0;
}

/// Returns the width that all BLAS libraries of the process share: 32 bits if there is none. It needs no memory,
/// because the product needs none either where memory is short.
Width width_of_all(const Routine& routine) {
  Path name{}, narrow{}, wide{};
  bool has_narrow = false, has_wide = false;
  for (std::size_t i = 0; find_library(i, name); ++i) {
    if (came_with_lapack(name.data())) continue; // which has no callers but itself
    const Held library(name.data());
    const auto own = [&](const char* symbol) { // not of the libraries behind it, which come by themselves
      void* const found = library.find(symbol);
      return found != nullptr && std::strcmp(name.data(), object_at(found).name()) == 0 ? found : nullptr;
    };
    const Width width = width_in(own);
    if (width == Width::Narrow) narrow = name;
    if (width == Width::Wide) wide = name;
    has_narrow = has_narrow || width == Width::Narrow;
    has_wide = has_wide || width == Width::Wide;
  }
  if (!has_narrow || !has_wide) return has_wide ? Width::Wide : Width::Narrow;
  std::fprintf(stderr,
               "tessera: %s: the process has a BLAS with 32-bit integers, %s, and one with 64-bit integers, %s, and %s "
               "is linked with neither, so that its integers cannot be known; link it with its BLAS, or start the "
               "program without libtessera_blas\n",
               routine.symbol, narrow.data(), wide.data(), name_at(routine.caller));
  std::abort();
}

/// A caller that was asked about. Libraries may be unloaded and others loaded in their place, so the name counts, too.
struct KnownCaller {
  LoadedObject object;
  const char* name;
  Width width;
  KnownCaller* next;

  bool is(const LoadedObject& other) const {
    return object.map == other.map && object.begin == other.begin && object.end == other.end &&
           std::strcmp(name, other.name()) == 0;
  }
};
std::atomic<KnownCaller*> known_callers{nullptr};
std::mutex callers_mutex;

Width known_width(const LoadedObject& object) {
  for (const KnownCaller* x = known_callers.load(std::memory_order_acquire); x != nullptr; x = x->next)
    if (x->is(object)) return x->width;
  return Width::Unknown;
}

/// Remembers the caller. Where memory is short it is asked about again.
void remember(const LoadedObject& object, Width width) {
  const std::lock_guard lock(callers_mutex);
  if (known_width(object) != Width::Unknown) return;
  char* const name = strdup(object.name());
  auto* const caller = new (std::nothrow) KnownCaller{object, name, width, known_callers.load()};
  if (name != nullptr && caller != nullptr) return known_callers.store(caller, std::memory_order_release);
  std::free(name);
  delete caller;
}

/// The widths that threads find at the same time are equal.
void remember_program(const LoadedObject& program, Width width) {
  const std::lock_guard lock(callers_mutex);
  known_program.is_wide.store(width == Width::Wide, std::memory_order_relaxed);
  known_program.begin.store(program.begin, std::memory_order_relaxed);
  known_program.size.store(program.end - program.begin, std::memory_order_release);
}

Width find_width(const Routine& routine, const LoadedObject& object) {
  Width width = object.map != nullptr ? width_in_library(object.name()) : Width::Unknown;
  if (width == Width::Unknown) width = width_in([](const char* symbol) { return dlsym(RTLD_DEFAULT, symbol); });
  if (width == Width::Unknown) width = width_of_all(routine);
  if (width == Width::Wide && log_dispatch())
    std::fprintf(stderr, "tessera: BLAS: %s passes 64-bit integers, as the BLAS has them that it is linked with\n",
                 name_at(routine.caller));
  return width;
}

} // namespace

bool finds_wide_integers(const Routine& routine) {
  const LoadedObject object = object_at(routine.caller);
  if (object.map == nullptr) return find_width(routine, object) == Width::Wide;
  Width width = known_width(object);
  if (width == Width::Unknown) {
    width = find_width(routine, object);
    remember(object, width);
  }
  if (*object.name() == '\0') remember_program(object, width);
  return width == Width::Wide;
}

Width width_of_library_at(const void* function) { return width_in_library(object_at(function).name()); }

} // namespace tessera::blas
