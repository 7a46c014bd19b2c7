/// What trampolines.cpp calls at the first call of a name.

#include <cstddef>
#include <cstdio>

#include "bindings/blas/symbols.hpp"
#include "library.hpp"
#include "routines.hpp"

#if defined(__x86_64__) || defined(__aarch64__)

extern "C" {

/// The addresses to which the exported names jump, in the order of TESSERA_LAPACK_ROUTINES.
extern __attribute__((visibility("hidden"))) void* tessera_lapack_slots[];

/// Finds the routine of the slot, and has later calls jump there.
__attribute__((visibility("hidden"), used)) void* tessera_lapack_target(void** slot, const void* caller) {
#define TESSERA_LAPACK_NAMES(name) {#name "_", TESSERA_BLAS_TEXT(TESSERA_BLAS_NAME(scipy_##name##_))},
  struct Names {
    const char *routine, *exported;
  };
  static constexpr Names names[] = {TESSERA_LAPACK_ROUTINES(TESSERA_LAPACK_NAMES)};
#undef TESSERA_LAPACK_NAMES
  const Names& called = names[slot - tessera_lapack_slots];
  void* const target = tessera::blas::lapack_routine(called.routine, called.exported, caller);
  __atomic_store_n(slot, target, __ATOMIC_RELEASE);
  return target;
}
}

#endif
