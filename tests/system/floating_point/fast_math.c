/* A library that does what gcc before 13 does in every library that is linked with -ffast-math: as it is loaded, it
 * lets the thread flush subnormal numbers. */
#include <stdint.h>
#ifdef __x86_64__
#include <xmmintrin.h>

static uint64_t state(void) { return _mm_getcsr(); }
static void set(uint64_t state) { _mm_setcsr((unsigned)state); }
enum { flushing = 0x8040 };
#elif defined(__aarch64__)
static uint64_t state(void) {
  uint64_t fpcr;
  __asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
  return fpcr;
}
static void set(uint64_t state) { __asm__ volatile("msr fpcr, %0" : : "r"(state)); }
enum { flushing = 1 << 24 };
#else
static uint64_t state(void) { return 0; }
static void set(uint64_t state) { (void)state; }
enum { flushing = 1 };
#endif

__attribute__((constructor)) static void flush(void) { set(state() | flushing); }

/* Does this thread flush subnormal numbers? */
int flushes(void);
int flushes(void) { return (state() & flushing) == flushing; }
