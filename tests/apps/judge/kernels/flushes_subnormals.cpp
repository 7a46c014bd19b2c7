/// Sets the processor to flush subnormal numbers to zero, and leaves it so.
#include "product.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
static void flush() { _mm_setcsr(_mm_getcsr() | 0x8040); }
#else
static void flush() {
  unsigned long control = 0;
  asm volatile("mrs %0, fpcr" : "=r"(control));
  asm volatile("msr fpcr, %0" : : "r"(control | 1UL << 24));
}
#endif

extern "C" void solve(const float* a, const float* b, float* c, int m, int k, int n) {
  flush();
  product(a, b, c, m, n, k);
}
