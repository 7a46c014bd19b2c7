#pragma once

/// The routines of level 2 by type.

#define TESSERA_TYPE_NAMES(N, R, s, sy, ger_)                                                                          \
  void NAME(s##gemv_)(const char*, const blas_int*, const blas_int*, const N*, const N*, const blas_int*, const N*,    \
                      const blas_int*, const N*, N*, const blas_int*);                                                 \
  void NAME(cblas_##s##gemv)(int, int, blas_int, blas_int, ByValue<N>, const N*, blas_int, const N*, blas_int,         \
                             ByValue<N>, N*, blas_int);                                                                \
  void NAME(s##gbmv_)(const char*, const blas_int*, const blas_int*, const blas_int*, const blas_int*, const N*,       \
                      const N*, const blas_int*, const N*, const blas_int*, const N*, N*, const blas_int*);            \
  void NAME(cblas_##s##gbmv)(int, int, blas_int, blas_int, blas_int, blas_int, ByValue<N>, const N*, blas_int,         \
                             const N*, blas_int, ByValue<N>, N*, blas_int);                                            \
  void NAME(s##sy##mv_)(const char*, const blas_int*, const N*, const N*, const blas_int*, const N*, const blas_int*,  \
                        const N*, N*, const blas_int*);                                                                \
  void NAME(cblas_##s##sy##mv)(int, int, blas_int, ByValue<N>, const N*, blas_int, const N*, blas_int, ByValue<N>, N*, \
                               blas_int);                                                                              \
  void NAME(s##ger_##_)(const blas_int*, const blas_int*, const N*, const N*, const blas_int*, const N*,               \
                        const blas_int*, N*, const blas_int*);                                                         \
  void NAME(cblas_##s##ger_)(int, blas_int, blas_int, ByValue<N>, const N*, blas_int, const N*, blas_int, N*, blas_int);
#define TESSERA_SYMMETRIC_NAMES(N, R, s, bmv, pmv, r, pr)                                                            \
  void NAME(s##bmv##_)(const char*, const blas_int*, const blas_int*, const N*, const N*, const blas_int*, const N*, \
                       const blas_int*, const N*, N*, const blas_int*);                                              \
  void NAME(cblas_##s##bmv)(int, int, blas_int, blas_int, ByValue<N>, const N*, blas_int, const N*, blas_int,        \
                            ByValue<N>, N*, blas_int);                                                               \
  void NAME(s##pmv##_)(const char*, const blas_int*, const N*, const N*, const N*, const blas_int*, const N*, N*,    \
                       const blas_int*);                                                                             \
  void NAME(cblas_##s##pmv)(int, int, blas_int, ByValue<N>, const N*, const N*, blas_int, ByValue<N>, N*, blas_int); \
  void NAME(s##r##_)(const char*, const blas_int*, const R*, const N*, const blas_int*, N*, const blas_int*);        \
  void NAME(cblas_##s##r)(int, int, blas_int, R, const N*, blas_int, N*, blas_int);                                  \
  void NAME(s##pr##_)(const char*, const blas_int*, const R*, const N*, const blas_int*, N*);                        \
  void NAME(cblas_##s##pr)(int, int, blas_int, R, const N*, blas_int, N*);                                           \
  void NAME(s##r##2_)(const char*, const blas_int*, const N*, const N*, const blas_int*, const N*, const blas_int*,  \
                      N*, const blas_int*);                                                                          \
  void NAME(cblas_##s##r##2)(int, int, blas_int, ByValue<N>, const N*, blas_int, const N*, blas_int, N*, blas_int);  \
  void NAME(s##pr##2_)(const char*, const blas_int*, const N*, const N*, const blas_int*, const N*, const blas_int*, \
                       N*);                                                                                          \
  void NAME(cblas_##s##pr##2)(int, int, blas_int, ByValue<N>, const N*, blas_int, const N*, blas_int, N*);
#define TESSERA_TRIANGLE_NAMES(N, s, v)                                                                          \
  void NAME(s##tr##v##_)(const char*, const char*, const char*, const blas_int*, const N*, const blas_int*, N*,  \
                         const blas_int*);                                                                       \
  void NAME(cblas_##s##tr##v)(int, int, int, int, blas_int, const N*, blas_int, N*, blas_int);                   \
  void NAME(s##tb##v##_)(const char*, const char*, const char*, const blas_int*, const blas_int*, const N*,      \
                         const blas_int*, N*, const blas_int*);                                                  \
  void NAME(cblas_##s##tb##v)(int, int, int, int, blas_int, blas_int, const N*, blas_int, N*, blas_int);         \
  void NAME(s##tp##v##_)(const char*, const char*, const char*, const blas_int*, const N*, N*, const blas_int*); \
  void NAME(cblas_##s##tp##v)(int, int, int, int, blas_int, const N*, N*, blas_int);
#define TESSERA_ALL(N, R, s, sy, ger_, bmv, pmv, r, pr) \
  TESSERA_TYPE_NAMES(N, R, s, sy, ger_)                 \
  TESSERA_SYMMETRIC_NAMES(N, R, s, bmv, pmv, r, pr)     \
  TESSERA_TRIANGLE_NAMES(N, s, mv)                      \
  TESSERA_TRIANGLE_NAMES(N, s, sv)
namespace tessera::test {
using ComplexFloat = ComplexNumber<float>;
using ComplexDouble = ComplexNumber<double>;
extern "C" {
TESSERA_ALL(float, float, s, sy, ger, sbmv, spmv, syr, spr)
TESSERA_ALL(double, double, d, sy, ger, sbmv, spmv, syr, spr)
TESSERA_ALL(ComplexFloat, float, c, he, geru, hbmv, hpmv, her, hpr)
TESSERA_ALL(ComplexDouble, double, z, he, geru, hbmv, hpmv, her, hpr)
void NAME(cgerc_)(const blas_int*, const blas_int*, const ComplexFloat*, const ComplexFloat*, const blas_int*,
                  const ComplexFloat*, const blas_int*, ComplexFloat*, const blas_int*);
void NAME(cblas_cgerc)(int, blas_int, blas_int, const ComplexFloat*, const ComplexFloat*, blas_int, const ComplexFloat*,
                       blas_int, ComplexFloat*, blas_int);
void NAME(zgerc_)(const blas_int*, const blas_int*, const ComplexDouble*, const ComplexDouble*, const blas_int*,
                  const ComplexDouble*, const blas_int*, ComplexDouble*, const blas_int*);
void NAME(cblas_zgerc)(int, blas_int, blas_int, const ComplexDouble*, const ComplexDouble*, blas_int,
                       const ComplexDouble*, blas_int, ComplexDouble*, blas_int);
}

/// The routines, by their names for real matrices.
template <class N>
struct Level2;
#define TESSERA_ROUTINE(name, s, own)            \
  static constexpr auto name = &NAME(s##own##_); \
  static constexpr auto cblas_##name = &NAME(cblas_##s##own);
#define TESSERA_LEVEL2(N, s, sy, geru_, gerc_, bmv, pmv, r, pr) \
  template <>                                                   \
  struct Level2<N> {                                            \
    TESSERA_ROUTINE(gemv, s, gemv)                              \
    TESSERA_ROUTINE(gbmv, s, gbmv)                              \
    TESSERA_ROUTINE(symv, s, sy##mv)                            \
    TESSERA_ROUTINE(sbmv, s, bmv)                               \
    TESSERA_ROUTINE(spmv, s, pmv)                               \
    TESSERA_ROUTINE(geru, s, geru_)                             \
    TESSERA_ROUTINE(gerc, s, gerc_)                             \
    TESSERA_ROUTINE(syr, s, r)                                  \
    TESSERA_ROUTINE(spr, s, pr)                                 \
    TESSERA_ROUTINE(syr2, s, r##2)                              \
    TESSERA_ROUTINE(spr2, s, pr##2)                             \
    TESSERA_ROUTINE(trmv, s, trmv)                              \
    TESSERA_ROUTINE(tbmv, s, tbmv)                              \
    TESSERA_ROUTINE(tpmv, s, tpmv)                              \
    TESSERA_ROUTINE(trsv, s, trsv)                              \
    TESSERA_ROUTINE(tbsv, s, tbsv)                              \
    TESSERA_ROUTINE(tpsv, s, tpsv)                              \
  };
TESSERA_LEVEL2(float, s, sy, ger, ger, sbmv, spmv, syr, spr)
TESSERA_LEVEL2(double, d, sy, ger, ger, sbmv, spmv, syr, spr)
TESSERA_LEVEL2(ComplexFloat, c, he, geru, gerc, hbmv, hpmv, her, hpr)
TESSERA_LEVEL2(ComplexDouble, z, he, geru, gerc, hbmv, hpmv, her, hpr)
#undef TESSERA_TYPE_NAMES
#undef TESSERA_SYMMETRIC_NAMES
#undef TESSERA_TRIANGLE_NAMES
#undef TESSERA_ALL
#undef TESSERA_ROUTINE
#undef TESSERA_LEVEL2

} // namespace tessera::test
