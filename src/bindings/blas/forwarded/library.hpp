#pragma once

/// The LAPACK to which calls of PyPI's wheels go, in place of the one in their OpenBLAS, whose BLAS cannot be
/// displaced. TESSERA_LAPACK names it where integers have 32 bits, and TESSERA_LAPACK64 where they have 64: a file, or
/// a name for the dynamic linker. `none` leaves the wheels their own. Without the variable the system's reference
/// LAPACK is used, and without that one the wheels keep their own.

#include "bindings/blas/symbols.hpp"

namespace tessera::blas {

/// Returns where a call of the routine goes. `name` is LAPACK's, such as dgesdd_, `scipy_name` is the name that was
/// called, and `caller` the place of the first call. The address stays valid as long as the process lives. A LAPACK
/// that the user named and that cannot be used, or that lacks the routine, ends the process with the reason; so does a
/// call from a process that has the routine nowhere.
void* lapack_routine(const char* name, const char* scipy_name, const void* caller);

} // namespace tessera::blas
