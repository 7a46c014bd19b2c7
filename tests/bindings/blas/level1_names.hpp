#pragma once

/// The routines of level 1 by type.

#define TESSERA_NUMBERS(N, R, s, sc, cs, is)                                                          \
  R NAME(sc##nrm2_)(const blas_int*, const N*, const blas_int*);                                      \
  R NAME(cblas_##sc##nrm2)(blas_int, const N*, blas_int);                                             \
  R NAME(sc##asum_)(const blas_int*, const N*, const blas_int*);                                      \
  R NAME(cblas_##sc##asum)(blas_int, const N*, blas_int);                                             \
  blas_int NAME(i##s##amax_)(const blas_int*, const N*, const blas_int*);                             \
  std::size_t NAME(cblas_i##s##amax)(blas_int, const N*, blas_int);                                   \
  void NAME(s##copy_)(const blas_int*, const N*, const blas_int*, N*, const blas_int*);               \
  void NAME(cblas_##s##copy)(blas_int, const N*, blas_int, N*, blas_int);                             \
  void NAME(s##swap_)(const blas_int*, N*, const blas_int*, N*, const blas_int*);                     \
  void NAME(cblas_##s##swap)(blas_int, N*, blas_int, N*, blas_int);                                   \
  void NAME(s##axpy_)(const blas_int*, const N*, const N*, const blas_int*, N*, const blas_int*);     \
  void NAME(cblas_##s##axpy)(blas_int, tessera::test::ByValue<N>, const N*, blas_int, N*, blas_int);  \
  void NAME(s##scal_)(const blas_int*, const N*, N*, const blas_int*);                                \
  void NAME(cblas_##s##scal)(blas_int, tessera::test::ByValue<N>, N*, blas_int);                      \
  void NAME(cs##rot_)(const blas_int*, N*, const blas_int*, N*, const blas_int*, const R*, const R*); \
  void NAME(cblas_##cs##rot)(blas_int, N*, blas_int, N*, blas_int, R, R);
#define TESSERA_REAL(R, s)                                                                  \
  TESSERA_NUMBERS(R, R, s, s, s, s)                                                         \
  R NAME(s##dot_)(const blas_int*, const R*, const blas_int*, const R*, const blas_int*);   \
  R NAME(cblas_##s##dot)(blas_int, const R*, blas_int, const R*, blas_int);                 \
  void NAME(s##rotm_)(const blas_int*, R*, const blas_int*, R*, const blas_int*, const R*); \
  void NAME(cblas_##s##rotm)(blas_int, R*, blas_int, R*, blas_int, const R*);               \
  void NAME(s##rotg_)(R*, R*, R*, R*);                                                      \
  void NAME(cblas_##s##rotg)(R*, R*, R*, R*);
#define TESSERA_COMPLEX(N, R, s, sc, cs)                                                   \
  TESSERA_NUMBERS(N, R, s, sc, cs, s)                                                      \
  N NAME(s##dotu_)(const blas_int*, const N*, const blas_int*, const N*, const blas_int*); \
  N NAME(s##dotc_)(const blas_int*, const N*, const blas_int*, const N*, const blas_int*); \
  void NAME(cblas_##s##dotu_sub)(blas_int, const N*, blas_int, const N*, blas_int, N*);    \
  void NAME(cblas_##s##dotc_sub)(blas_int, const N*, blas_int, const N*, blas_int, N*);    \
  void NAME(cs##scal_)(const blas_int*, const R*, N*, const blas_int*);                    \
  void NAME(cblas_##cs##scal)(blas_int, R, N*, blas_int);                                  \
  void NAME(s##rotg_)(N*, const N*, R*, N*);
extern "C" {
TESSERA_REAL(float, s)
TESSERA_REAL(double, d)
TESSERA_COMPLEX(tessera::ComplexNumber<float>, float, c, sc, cs)
TESSERA_COMPLEX(tessera::ComplexNumber<double>, double, z, dz, zd)
double NAME(dsdot_)(const blas_int*, const float*, const blas_int*, const float*, const blas_int*);
double NAME(cblas_dsdot)(blas_int, const float*, blas_int, const float*, blas_int);
float NAME(sdsdot_)(const blas_int*, const float*, const float*, const blas_int*, const float*, const blas_int*);
float NAME(cblas_sdsdot)(blas_int, float, const float*, blas_int, const float*, blas_int);
}
#undef TESSERA_NUMBERS
#undef TESSERA_REAL
#undef TESSERA_COMPLEX

namespace tessera::test {

template <class N>
struct Blas;
#define TESSERA_NUMBERS(s, sc, cs)                             \
  static constexpr auto nrm2 = &NAME(sc##nrm2_);               \
  static constexpr auto cblas_nrm2 = &NAME(cblas_##sc##nrm2);  \
  static constexpr auto asum = &NAME(sc##asum_);               \
  static constexpr auto cblas_asum = &NAME(cblas_##sc##asum);  \
  static constexpr auto iamax = &NAME(i##s##amax_);            \
  static constexpr auto cblas_iamax = &NAME(cblas_i##s##amax); \
  static constexpr auto copy = &NAME(s##copy_);                \
  static constexpr auto cblas_copy = &NAME(cblas_##s##copy);   \
  static constexpr auto swap = &NAME(s##swap_);                \
  static constexpr auto cblas_swap = &NAME(cblas_##s##swap);   \
  static constexpr auto axpy = &NAME(s##axpy_);                \
  static constexpr auto cblas_axpy = &NAME(cblas_##s##axpy);   \
  static constexpr auto scal = &NAME(s##scal_);                \
  static constexpr auto cblas_scal = &NAME(cblas_##s##scal);   \
  static constexpr auto rot = &NAME(cs##rot_);                 \
  static constexpr auto cblas_rot = &NAME(cblas_##cs##rot);    \
  static constexpr auto rotg = &NAME(s##rotg_);
#define TESSERA_REAL(R, s)                                     \
  template <>                                                  \
  struct Blas<R> {                                             \
    TESSERA_NUMBERS(s, s, s)                                   \
    static constexpr auto dot = &NAME(s##dot_);                \
    static constexpr auto cblas_dot = &NAME(cblas_##s##dot);   \
    static constexpr auto rotm = &NAME(s##rotm_);              \
    static constexpr auto cblas_rotm = &NAME(cblas_##s##rotm); \
    static constexpr auto cblas_rotg = &NAME(cblas_##s##rotg); \
  };
#define TESSERA_COMPLEX(R, s, sc, cs)                                \
  template <>                                                        \
  struct Blas<ComplexNumber<R>> {                                    \
    TESSERA_NUMBERS(s, sc, cs)                                       \
    static constexpr auto dotu = &NAME(s##dotu_);                    \
    static constexpr auto dotc = &NAME(s##dotc_);                    \
    static constexpr auto cblas_dotu = &NAME(cblas_##s##dotu_sub);   \
    static constexpr auto cblas_dotc = &NAME(cblas_##s##dotc_sub);   \
    static constexpr auto real_scal = &NAME(cs##scal_);              \
    static constexpr auto cblas_real_scal = &NAME(cblas_##cs##scal); \
  };
TESSERA_REAL(float, s)
TESSERA_REAL(double, d)
TESSERA_COMPLEX(float, c, sc, cs)
TESSERA_COMPLEX(double, z, dz, zd)
#undef TESSERA_NUMBERS
#undef TESSERA_REAL
#undef TESSERA_COMPLEX

} // namespace tessera::test
