#pragma once

#include <tessera/detail/cxx20.hpp>

#include <cstddef> // defines the macros of the standard library

/// A word in the names of what libtessera exports, where a program or the library is compiled with another standard
/// library than libstdc++ with its ABI of C++11, or with one whose containers have another layout. Strings and vectors
/// cross the boundary, so the two would read each other's wrongly: with other names they do not link, and the linker's
/// message has the word. A library that is compiled so too has these names as well. Ordinary names have no word.
/// The source of the idea is libstdc++, whose strings have the tag `cxx11`. tests/system/install/abi.cmake holds it.
#if defined(_LIBCPP_VERSION)
#define TESSERA_ABI_TAG __attribute__((abi_tag("needs_a_libtessera_built_with_libcxx")))
#elif defined(_GLIBCXX_DEBUG) && !_GLIBCXX_USE_CXX11_ABI
#define TESSERA_ABI_TAG \
  __attribute__((abi_tag("needs_a_libtessera_built_with_GLIBCXX_DEBUG_and_GLIBCXX_USE_CXX11_ABI_0")))
#elif defined(_GLIBCXX_DEBUG)
#define TESSERA_ABI_TAG __attribute__((abi_tag("needs_a_libtessera_built_with_GLIBCXX_DEBUG")))
#elif defined(__GLIBCXX__) && !_GLIBCXX_USE_CXX11_ABI
#define TESSERA_ABI_TAG __attribute__((abi_tag("needs_a_libtessera_built_with_GLIBCXX_USE_CXX11_ABI_0")))
#elif defined(__GLIBCXX__) && _GLIBCXX_INLINE_VERSION
#define TESSERA_ABI_TAG __attribute__((abi_tag("needs_a_libtessera_built_with_GLIBCXX_INLINE_VERSION")))
#else
#define TESSERA_ABI_TAG
#endif

/// Marks an instance of a template that libtessera exports; the template has TESSERA_ABI_TAG.
#if defined(TESSERA_BUILDING_LIBRARY)
#define TESSERA_API_INSTANCE __attribute__((visibility("default")))
#else
#define TESSERA_API_INSTANCE
#endif
/// Marks the symbols that libtessera exports; all others are hidden.
#define TESSERA_API TESSERA_API_INSTANCE TESSERA_ABI_TAG

/// Marks the few functions that run on the host and on a device, with the same bits.
#if defined(__CUDACC__)
#define TESSERA_HOST_DEVICE __host__ __device__
#elif defined(TESSERA_SPIRV_KERNELS)
#define TESSERA_HOST_DEVICE __attribute__((host, device))
#else
#define TESSERA_HOST_DEVICE
#endif
