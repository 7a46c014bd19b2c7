#include "functors.hpp"

#include <cstdio>

int main() { std::printf("value %d, plug-in %s\n", VALUE, TESSERA_USER_KERNELS); }
