#pragma once

/// Names and integers of the two libraries: libtessera_blas with 32-bit integers, libtessera_blas64 with 64-bit ones
/// and the suffix 64_ that OpenBLAS and SciPy use (sgemm_64_, cblas_sgemm64_).

#include <cstddef>
#include <cstdint>

#if defined(TESSERA_BLAS_64)
#define TESSERA_BLAS_NAME(name) name##64_
using blas_int = std::int64_t;
#else
#define TESSERA_BLAS_NAME(name) name
using blas_int = std::int32_t;
#endif

#define TESSERA_BLAS_API __attribute__((visibility("default")))

/// Exports a routine of this file also under the name that the OpenBLAS in PyPI's wheels of NumPy and SciPy gives it:
/// scipy_cblas_sgemm64_ and scipy_sgemm_64_ with 64-bit integers, scipy_cblas_sgemm and scipy_sgemm_ with 32-bit ones.
#define TESSERA_BLAS_TEXT_OF(name) #name
#define TESSERA_BLAS_TEXT(name) TESSERA_BLAS_TEXT_OF(name)
#define TESSERA_BLAS_SCIPY_NAME(name)                                                       \
  TESSERA_BLAS_API extern decltype(TESSERA_BLAS_NAME(name)) TESSERA_BLAS_NAME(scipy_##name) \
      __attribute__((alias(TESSERA_BLAS_TEXT(TESSERA_BLAS_NAME(name)))))

extern "C" {

/// The standard's handlers of illegal arguments. Where a program defines such functions, they are called instead.
TESSERA_BLAS_API void TESSERA_BLAS_NAME(xerbla_)(const char* routine, const blas_int* position, std::size_t length);
TESSERA_BLAS_API void TESSERA_BLAS_NAME(cblas_xerbla)(blas_int position, const char* routine, const char* form, ...);

/// Nonzero while cblas_xerbla hears of a row-major cblas_?gemm. As in netlib's CBLAS, the position then counts as
/// the Fortran routine does, plus one: Cᵀ = op(B)ᵀ·op(A)ᵀ, so 4 is n, 5 is m, 9 is ldb and 11 is lda. A handler that a
/// program brings reads this variable under netlib's name to count as the C prototype does; cblas_prototype_position()
/// in xerbla.cpp shows how.
TESSERA_BLAS_API extern int TESSERA_BLAS_NAME(RowMajorStrg);
}

namespace tessera::blas {

/// Sets RowMajorStrg. Threads may be refused at the same time.
inline void tell_row_major(bool rows) {
  __atomic_store_n(&TESSERA_BLAS_NAME(RowMajorStrg), rows ? 1 : 0, __ATOMIC_RELAXED);
}

} // namespace tessera::blas
