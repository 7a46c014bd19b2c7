#pragma once

/// What happens at an illegal argument: what would happen without this library. The call goes on to the routine of the
/// BLAS that the library displaces, which finds the argument too and tells the handler that it finds: R's, NumPy's, a
/// program's own, or that BLAS's. The library itself exports no xerbla_ and no cblas_xerbla, because they would
/// displace those handlers for LAPACK and for the rest of the BLAS, too.

#include <cstdint>

#include "symbols.hpp"

namespace tessera::blas {

/// Returns the routine that the caller would have called without this library; null: there is none.
void* displaced_routine(const Routine& routine);

/// Passes a call with an illegal argument on. Returns false if there is no routine that takes it. A handler may leave
/// this function by longjmp, as R's does.
template <class... Arguments>
bool hand_on(const Routine& routine, Arguments... arguments) {
  void* const displaced = displaced_routine(routine);
  if (displaced == nullptr) return false;
  reinterpret_cast<void (*)(Arguments...)>(displaced)(arguments...);
  return true;
}

/// Tell the handler that the process has, or else print, as the standard says; the program goes on without the product.
/// The position counts as the interface does.
void report_fortran(const Routine& routine, std::int64_t position);
void report_cblas(const Routine& routine, std::int64_t position, const char* form, const char* text);
void report_cblas(const Routine& routine, std::int64_t position, const char* form, int value);

} // namespace tessera::blas
