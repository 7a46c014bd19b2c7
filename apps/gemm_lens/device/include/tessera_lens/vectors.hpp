#pragma once

/// CUDA's vectors. An assignment copies the whole vector in one access, as nvcc's code does.

#define TESSERA_LENS_ASSIGN(name)                 \
  name& operator=(const name& other) {            \
    __builtin_memcpy(this, &other, sizeof other); \
    return *this;                                 \
  }
#define TESSERA_LENS_VECTORS(type, element)                                               \
  struct type##1 {                                                                        \
    element x;                                                                            \
  };                                                                                      \
  struct alignas(2 * sizeof(element)) type##2 {                                           \
    element x, y;                                                                         \
    TESSERA_LENS_ASSIGN(type##2)                                                          \
  };                                                                                      \
  struct type##3 {                                                                        \
    element x, y, z;                                                                      \
  };                                                                                      \
  struct alignas(4 * sizeof(element) < 16 ? 4 * sizeof(element) : 16) type##4 {           \
    element x, y, z, w;                                                                   \
    TESSERA_LENS_ASSIGN(type##4)                                                          \
  };                                                                                      \
  constexpr type##1 make_##type##1(element x) { return {x}; }                             \
  constexpr type##2 make_##type##2(element x, element y) { return {x, y}; }               \
  constexpr type##3 make_##type##3(element x, element y, element z) { return {x, y, z}; } \
  constexpr type##4 make_##type##4(element x, element y, element z, element w) { return {x, y, z, w}; }

TESSERA_LENS_VECTORS(float, float)
TESSERA_LENS_VECTORS(double, double)
TESSERA_LENS_VECTORS(int, int)
TESSERA_LENS_VECTORS(char, signed char)
TESSERA_LENS_VECTORS(uchar, unsigned char)
TESSERA_LENS_VECTORS(short, short)
TESSERA_LENS_VECTORS(ushort, unsigned short)
TESSERA_LENS_VECTORS(long, long)
TESSERA_LENS_VECTORS(ulong, unsigned long)
TESSERA_LENS_VECTORS(longlong, long long)
TESSERA_LENS_VECTORS(ulonglong, unsigned long long)

struct uint1 {
  unsigned x;
};
struct alignas(8) uint2 {
  unsigned x, y;
  TESSERA_LENS_ASSIGN(uint2)
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
  TESSERA_LENS_ASSIGN(uint4)
};
constexpr uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
constexpr uint3 make_uint3(unsigned x, unsigned y, unsigned z) { return {x, y, z}; }
constexpr uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
