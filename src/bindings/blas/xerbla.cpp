#include "xerbla.hpp"

#include <dlfcn.h>
#include <cinttypes>
#include <cstdio>
#include <cstring>

#include "caller.hpp"
#include "loaded.hpp"

extern "C" {

int TESSERA_BLAS_NAME(RowMajorStrg) = 0;

// The standard's handlers. The references make the linker export the handlers of a program that is linked with this
// library.
__attribute__((weak, visibility("default"))) void TESSERA_BLAS_NAME(xerbla_)(const char* routine,
                                                                             const blas_int* position,
                                                                             std::size_t length);
__attribute__((weak, visibility("default"))) void TESSERA_BLAS_NAME(cblas_xerbla)(blas_word position,
                                                                                  const char* routine, const char* form,
                                                                                  ...);
}

namespace tessera::blas {
namespace {

/// Returns the position in the C prototype for a position that a row-major call reports.
std::int64_t cblas_prototype_position(std::int64_t position, const char* routine) {
  if (TESSERA_BLAS_NAME(RowMajorStrg) == 0) return position;
  const auto is = [&](const char* name) { return std::strstr(routine, name) != nullptr; };
  if (is("trsm") || is("trmm")) return position == 6 ? 7 : position == 7 ? 6 : position; // m and n
  if (is("symm") || is("hemm")) return position == 4 ? 5 : position == 5 ? 4 : position;
  if (is("gemv")) return position == 3 ? 4 : position == 4 ? 3 : position;
  if (is("gbmv")) { // m and n, kl and ku
    constexpr std::int64_t others[] = {4, 3, 6, 5};
    return position >= 3 && position <= 6 ? others[position - 3] : position;
  }
  if (is("ger")) { // m and n, incx and incy
    if (position == 2 || position == 3) return 5 - position;
    return position == 6 || position == 8 ? 14 - position : position;
  }
  if ((is("her2") && !is("her2k")) || is("hpr2")) return position == 6 || position == 8 ? 14 - position : position;
  if (!is("gemm")) return position;
  switch (position) {
    case 4:
      return 5;
    case 5:
      return 4;
    case 9:
      return 11;
    case 11:
      return 9;
    default:
      return position;
  }
}

/// Returns the handler of the process, or the one that the caller's library sees.
template <class Handler>
Handler* handler(Handler* linked, const char* name, const void* caller) {
  if (linked != nullptr) return linked;
  if (void* const found = dlsym(RTLD_DEFAULT, name)) return reinterpret_cast<Handler*>(found);
  const LoadedObject object = object_at(caller);
  return object.map == nullptr ? nullptr : reinterpret_cast<Handler*>(Held(object.name()).find(name));
}

template <class Value>
void tell_cblas(const Routine& routine, std::int64_t position, const char* form, Value value) {
  if (auto* const told =
          handler(&TESSERA_BLAS_NAME(cblas_xerbla), TESSERA_BLAS_TEXT(TESSERA_BLAS_NAME(cblas_xerbla)), routine.caller))
    return told(position, routine.word, form, value);
  std::fprintf(stderr, "Parameter %" PRId64 " to routine %s was incorrect\n",
               cblas_prototype_position(position, routine.word), routine.word);
  std::fprintf(stderr, form, value);
}

} // namespace

void* displaced_routine(const Routine& routine) {
  const LoadedObject object = object_at(routine.caller);
  const Held caller(object.name());
  const auto of_caller = [&](const char* symbol) { return object.map == nullptr ? nullptr : caller.find(symbol); };
  const Width passed = has_wide_integers(routine) ? Width::Wide : Width::Narrow;
  // The linker looks for a function first in the program and its libraries, and then in the caller's own.
  for (void* const found : {of_caller(routine.scipy_symbol), dlsym(RTLD_NEXT, routine.symbol),
                            of_caller(routine.symbol), dlsym(RTLD_DEFAULT, routine.symbol)}) {
    if (found == nullptr || is_own(found)) continue;
    const Width width = width_of_library_at(found);
    if (width == Width::Unknown || width == passed) return found;
  }
  return nullptr;
}

void report_fortran(const Routine& routine, std::int64_t position) {
  if (auto* const told = handler(&TESSERA_BLAS_NAME(xerbla_), TESSERA_BLAS_TEXT(TESSERA_BLAS_NAME(xerbla_)),
                                 routine.caller)) // reads an integer of its own width from the first bytes
    return told(routine.word, reinterpret_cast<const blas_int*>(&position), std::strlen(routine.word));
  std::fprintf(stderr, " ** On entry to %s parameter number %" PRId64 " had an illegal value\n", routine.word,
               position);
}
void report_cblas(const Routine& routine, std::int64_t position, const char* form, const char* text) {
  tell_cblas(routine, position, form, text);
}
void report_cblas(const Routine& routine, std::int64_t position, const char* form, int value) {
  tell_cblas(routine, position, form, value);
}

} // namespace tessera::blas
