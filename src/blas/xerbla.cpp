/// The handlers of illegal arguments. As the standard says, they print the position, and the program goes on without
/// the product.

#include <cinttypes>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "symbols.hpp"

namespace {

/// Returns the position in the C prototype for a position that a row-major cblas_?gemm reports.
blas_int cblas_prototype_position(blas_int position, const char* routine) {
  if (TESSERA_BLAS_NAME(RowMajorStrg) == 0 || std::strstr(routine, "gemm") == nullptr) return position;
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

} // namespace

extern "C" {

int TESSERA_BLAS_NAME(RowMajorStrg) = 0;

__attribute__((weak)) void TESSERA_BLAS_NAME(xerbla_)(const char* routine, const blas_int* position,
                                                      std::size_t length) {
  std::fprintf(stderr, " ** On entry to %.*s parameter number %" PRId64 " had an illegal value\n",
               static_cast<int>(length), routine, static_cast<std::int64_t>(*position));
}

__attribute__((weak)) void TESSERA_BLAS_NAME(cblas_xerbla)(blas_int position, const char* routine, const char* form,
                                                           ...) {
  if (position != 0)
    std::fprintf(stderr, "Parameter %" PRId64 " to routine %s was incorrect\n",
                 static_cast<std::int64_t>(cblas_prototype_position(position, routine)), routine);
  std::va_list values;
  va_start(values, form);
  std::vfprintf(stderr, form, values);
  va_end(values);
}
}
