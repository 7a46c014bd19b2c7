#pragma once

/// The intrinsics, for files that are compiled for AVX-512: to be included first.

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuninitialized" // gcc 12's own header sets undefined vectors that way
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
