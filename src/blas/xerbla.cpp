/// The handlers of illegal arguments. As the standard says, they print the position, and the program goes on without
/// the product.

#include <cinttypes>
#include <cstdarg>
#include <cstdio>

#include "symbols.hpp"

extern "C" {

__attribute__((weak)) void TESSERA_BLAS_NAME(xerbla_)(const char* routine, const blas_int* position,
                                                      std::size_t length) {
  std::fprintf(stderr, " ** On entry to %.*s parameter number %" PRId64 " had an illegal value\n",
               static_cast<int>(length), routine, static_cast<std::int64_t>(*position));
}

__attribute__((weak)) void TESSERA_BLAS_NAME(cblas_xerbla)(blas_int position, const char* routine, const char* form,
                                                           ...) {
  if (position != 0)
    std::fprintf(stderr, "Parameter %" PRId64 " to routine %s was incorrect\n", static_cast<std::int64_t>(position),
                 routine);
  std::va_list values;
  va_start(values, form);
  std::vfprintf(stderr, form, values);
  va_end(values);
}
}
