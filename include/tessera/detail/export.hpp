#pragma once

/// Marks what libtessera exports; everything else is hidden.
#if defined(TESSERA_BUILDING_LIBRARY)
#define TESSERA_API __attribute__((visibility("default")))
#else
#define TESSERA_API
#endif

/// For the few functions that run on the host and in device code with the same bits.
#if defined(__CUDACC__)
#define TESSERA_HOST_DEVICE __host__ __device__
#else
#define TESSERA_HOST_DEVICE
#endif
