#pragma once

/// CUDA's functions of numbers, as far as products use them.

#include <cmath>
#include <cstring>

using std::isfinite;
using std::isinf;
using std::isnan;

inline float __fmaf_rn(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
inline double __fma_rn(double x, double y, double z) { return __builtin_fma(x, y, z); }
inline float __fadd_rn(float x, float y) { return x + y; }
inline float __fsub_rn(float x, float y) { return x - y; }
inline float __fmul_rn(float x, float y) { return x * y; }
inline float __fdiv_rn(float x, float y) { return x / y; }
inline float __fdividef(float x, float y) { return x / y; }
inline float __frcp_rn(float x) { return 1 / x; }
inline float __fsqrt_rn(float x) { return __builtin_sqrtf(x); }
inline double __dadd_rn(double x, double y) { return x + y; }
inline double __dsub_rn(double x, double y) { return x - y; }
inline double __dmul_rn(double x, double y) { return x * y; }
inline float __expf(float x) { return __builtin_expf(x); }
inline float __logf(float x) { return __builtin_logf(x); }
inline float rsqrtf(float x) { return 1 / __builtin_sqrtf(x); }
inline int __mul24(int x, int y) { return x * y; }
inline int __mulhi(int x, int y) { return static_cast<int>(static_cast<long long>(x) * y >> 32); }
inline unsigned __umulhi(unsigned x, unsigned y) {
  return static_cast<unsigned>(static_cast<unsigned long long>(x) * y >> 32);
}
inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  return static_cast<unsigned long long>(static_cast<unsigned __int128>(x) * y >> 64);
}
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline unsigned __brev(unsigned x) {
  unsigned reversed = 0;
  for (int bit = 0; bit < 32; ++bit) reversed |= (x >> bit & 1) << (31 - bit);
  return reversed;
}

#define TESSERA_LENS_BITS(name, to, from) \
  inline to name(from x) {                \
    to bits;                              \
    std::memcpy(&bits, &x, sizeof bits);  \
    return bits;                          \
  }
TESSERA_LENS_BITS(__float_as_uint, unsigned, float)
TESSERA_LENS_BITS(__float_as_int, int, float)
TESSERA_LENS_BITS(__uint_as_float, float, unsigned)
TESSERA_LENS_BITS(__int_as_float, float, int)
TESSERA_LENS_BITS(__double_as_longlong, long long, double)
TESSERA_LENS_BITS(__longlong_as_double, double, long long)

#define TESSERA_LENS_LEAST(type)                               \
  constexpr type min(type x, type y) { return y < x ? y : x; } \
  constexpr type max(type x, type y) { return x < y ? y : x; }
TESSERA_LENS_LEAST(int)
TESSERA_LENS_LEAST(unsigned)
TESSERA_LENS_LEAST(long)
TESSERA_LENS_LEAST(unsigned long)
TESSERA_LENS_LEAST(long long)
TESSERA_LENS_LEAST(unsigned long long)
TESSERA_LENS_LEAST(float)
TESSERA_LENS_LEAST(double)
constexpr unsigned min(int x, unsigned y) { return min(static_cast<unsigned>(x), y); }
constexpr unsigned min(unsigned x, int y) { return min(x, static_cast<unsigned>(y)); }
constexpr unsigned max(int x, unsigned y) { return max(static_cast<unsigned>(x), y); }
constexpr unsigned max(unsigned x, int y) { return max(x, static_cast<unsigned>(y)); }
