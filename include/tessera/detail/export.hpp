#pragma once

#include <tessera/detail/cxx20.hpp>

/// Marks the symbols that libtessera exports; all others are hidden.
#if defined(TESSERA_BUILDING_LIBRARY)
#define TESSERA_API __attribute__((visibility("default")))
#else
#define TESSERA_API
#endif

/// Marks the few functions that run on the host and on a device, with the same bits.
#if defined(__CUDACC__)
#define TESSERA_HOST_DEVICE __host__ __device__
#else
#define TESSERA_HOST_DEVICE
#endif
