#pragma once

/// Names and integers of the two libraries: libtessera_blas with the standard's names, libtessera_blas64 with the
/// suffix 64_ that OpenBLAS and SciPy use (sgemm_64_, cblas_sgemm64_). Integers of the names with a suffix have 64
/// bits. Integers of the standard's names have 32 bits in most programs, and 64 bits in programs of a BLAS such as
/// Debian's libblas64: caller.hpp finds out for each caller.

#include <cstddef>
#include <cstdint>

#if defined(TESSERA_BLAS_64)
#define TESSERA_BLAS_NAME(name) name##64_
using blas_int = std::int64_t;
#else
#define TESSERA_BLAS_NAME(name) name
using blas_int = std::int32_t;
#endif

/// An integer that is passed by value. Where Tessera runs (x86-64, AArch64), an integer of either width has a register
/// or eight bytes of the stack to itself, so that this type receives both; only the lower half of a 32-bit one counts.
using blas_word = std::int64_t;

#define TESSERA_BLAS_API __attribute__((visibility("default")))

#define TESSERA_BLAS_TEXT_OF(name) #name
#define TESSERA_BLAS_TEXT(name) TESSERA_BLAS_TEXT_OF(name)
/// Exports a routine of this file also under the name that the OpenBLAS in PyPI's wheels of NumPy and SciPy gives it:
/// scipy_cblas_sgemm64_ and scipy_sgemm_64_ with 64-bit integers, scipy_cblas_sgemm and scipy_sgemm_ with 32-bit ones.
#define TESSERA_BLAS_SCIPY_NAME(name)                                                       \
  TESSERA_BLAS_API extern decltype(TESSERA_BLAS_NAME(name)) TESSERA_BLAS_NAME(scipy_##name) \
      __attribute__((alias(TESSERA_BLAS_TEXT(TESSERA_BLAS_NAME(name)))))

extern "C" {

/// Nonzero while cblas_xerbla hears of a row-major cblas_?gemm. As in netlib's CBLAS, the position then counts as
/// the Fortran routine does, plus one: Cᵀ = op(B)ᵀ·op(A)ᵀ, so 4 is n, 5 is m, 9 is ldb and 11 is lda. A handler that a
/// program brings reads this variable under netlib's name to count as the C prototype does; cblas_prototype_position()
/// in xerbla.cpp shows how.
TESSERA_BLAS_API extern int TESSERA_BLAS_NAME(RowMajorStrg);
}

namespace tessera::blas {

/// One call of a routine: what handlers are told, the exported names, and the place to which the call returns.
struct Routine {
  const char* word;
  const char* symbol;
  const char* scipy_symbol;
  const void* caller;
};

/// The routine of the exported function in which this stands.
#define TESSERA_BLAS_ROUTINE(word, name)                                                                  \
  tessera::blas::Routine {                                                                                \
    word, TESSERA_BLAS_TEXT(TESSERA_BLAS_NAME(name)), TESSERA_BLAS_TEXT(TESSERA_BLAS_NAME(scipy_##name)), \
        __builtin_return_address(0)                                                                       \
  }

/// Sets RowMajorStrg. Threads may be refused at the same time.
inline void tell_row_major(bool rows) {
  __atomic_store_n(&TESSERA_BLAS_NAME(RowMajorStrg), rows ? 1 : 0, __ATOMIC_RELAXED);
}

} // namespace tessera::blas
