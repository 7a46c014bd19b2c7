#pragma once

/// The intrinsics, for files that are compiled for AVX-512. Such a file includes this header before any other.

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuninitialized" // gcc 12's own header makes undefined vectors that way
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
