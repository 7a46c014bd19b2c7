#pragma once

/// The C library's functions for device code in SPIR-V, which are OpenCL's own: their bits differ between devices.
/// cmake/tessera_spirv.sh includes this file before all others, so that <cmath> finds the functions, too. Functors
/// whose bits must be equal everywhere call tessera::exp and its like (math.hpp).
///
/// Source: SPIR-V's instruction set OpenCL.std, whose names llvm-spirv takes after `__spirv_ocl_`.

#define TESSERA_SPIRV_ONE(name)                                                                    \
  __attribute__((device, const)) float __spirv_ocl_##name(float);                                  \
  __attribute__((device, const)) double __spirv_ocl_##name(double);                                \
  extern "C" {                                                                                     \
  __attribute__((device)) inline float name##f(float x) noexcept { return __spirv_ocl_##name(x); } \
  __attribute__((device)) inline double name(double x) noexcept { return __spirv_ocl_##name(x); }  \
  }
#define TESSERA_SPIRV_TWO(name)                                                                                \
  __attribute__((device, const)) float __spirv_ocl_##name(float, float);                                       \
  __attribute__((device, const)) double __spirv_ocl_##name(double, double);                                    \
  extern "C" {                                                                                                 \
  __attribute__((device)) inline float name##f(float x, float y) noexcept { return __spirv_ocl_##name(x, y); } \
  __attribute__((device)) inline double name(double x, double y) noexcept { return __spirv_ocl_##name(x, y); } \
  }

TESSERA_SPIRV_ONE(acos)
TESSERA_SPIRV_ONE(asin)
TESSERA_SPIRV_ONE(atan)
TESSERA_SPIRV_ONE(cbrt)
TESSERA_SPIRV_ONE(ceil)
TESSERA_SPIRV_ONE(cos)
TESSERA_SPIRV_ONE(cosh)
TESSERA_SPIRV_ONE(exp)
TESSERA_SPIRV_ONE(exp2)
TESSERA_SPIRV_ONE(expm1)
TESSERA_SPIRV_ONE(fabs)
TESSERA_SPIRV_ONE(floor)
TESSERA_SPIRV_ONE(log)
TESSERA_SPIRV_ONE(log10)
TESSERA_SPIRV_ONE(log1p)
TESSERA_SPIRV_ONE(log2)
TESSERA_SPIRV_ONE(rint)
TESSERA_SPIRV_ONE(round)
TESSERA_SPIRV_ONE(sin)
TESSERA_SPIRV_ONE(sinh)
TESSERA_SPIRV_ONE(sqrt)
TESSERA_SPIRV_ONE(tan)
TESSERA_SPIRV_ONE(tanh)
TESSERA_SPIRV_ONE(trunc)
TESSERA_SPIRV_TWO(atan2)
TESSERA_SPIRV_TWO(copysign)
TESSERA_SPIRV_TWO(fdim)
TESSERA_SPIRV_TWO(fmax)
TESSERA_SPIRV_TWO(fmin)
TESSERA_SPIRV_TWO(fmod)
TESSERA_SPIRV_TWO(hypot)
TESSERA_SPIRV_TWO(pow)
TESSERA_SPIRV_TWO(remainder)

__attribute__((device, const)) float __spirv_ocl_fma(float, float, float);
__attribute__((device, const)) double __spirv_ocl_fma(double, double, double);
extern "C" {
__attribute__((device)) inline float fmaf(float x, float y, float z) noexcept { return __spirv_ocl_fma(x, y, z); }
__attribute__((device)) inline double fma(double x, double y, double z) noexcept { return __spirv_ocl_fma(x, y, z); }
}

#undef TESSERA_SPIRV_ONE
#undef TESSERA_SPIRV_TWO
