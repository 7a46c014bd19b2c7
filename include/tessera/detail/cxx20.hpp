#pragma once

/// Stops a compiler that was not asked for C++20, with one message in place of hundreds.
///
/// After #error compilers go on, and complain of each line that needs C++20. Where they do not find a header they stop,
/// and print its name. Every header includes this one by way of export.hpp.

#if __cplusplus < 202002L
#include <Tessera needs C++20: add -std=c++20 or later to the flags of the compiler> // no file is missing
#endif
