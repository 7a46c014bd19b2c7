#include "values.hpp"

#include <cstdio>

#if defined(NDEBUG)
#define ASSERTIONS "off"
#else
#define ASSERTIONS "on"
#endif
int main() { std::printf("value %d, assertions %s, plug-in %s\n", VALUE, ASSERTIONS, TESSERA_USER_KERNELS); }
