#pragma once

/// The compiler's and the standard library's ABI as text, by which a host and a plug-in find out whether they agree.

#include <cstddef> // defines the macros of the standard library

/// The text of its argument; TESSERA_STRINGIFY replaces macros first.
#define TESSERA_STRINGIFY_IMPL(x) #x
/// The text of a macro's value.
#define TESSERA_STRINGIFY(x) TESSERA_STRINGIFY_IMPL(x)
/// Says whether libstdc++'s containers have the checks that change their layout.
#if defined(_GLIBCXX_DEBUG)
#define TESSERA_BUILD_TAG_CONTAINERS "-debug"
#else
#define TESSERA_BUILD_TAG_CONTAINERS ""
#endif
/// The standard library and its ABI as text. C++ objects cross the boundary, so host and plug-in must agree on them.
#if defined(__GLIBCXX__)
#define TESSERA_BUILD_TAG                                                                                       \
  "libstdc++-cxx11abi" TESSERA_STRINGIFY(_GLIBCXX_USE_CXX11_ABI) "-gxxabi" TESSERA_STRINGIFY(__GXX_ABI_VERSION) \
      TESSERA_BUILD_TAG_CONTAINERS
#elif defined(_LIBCPP_VERSION)
#define TESSERA_BUILD_TAG "libc++-abi" TESSERA_STRINGIFY(_LIBCPP_ABI_VERSION)
#else
#error "unknown standard library: give it a build tag"
#endif
