#pragma once

/// The routines of level 3 as a program declares them.

#include <complex>
#include <type_traits>

#include "systems.hpp"

namespace tessera::test {

template <class T>
using RealOf = Part<T>;

/// CBLAS takes real numbers by value, and complex ones by address.
template <class T>
using Passed = std::conditional_t<is_complex<T>, const void*, T>;
template <class T>
Passed<T> passed(const T& x) {
  if constexpr (is_complex<T>)
    return &x;
  else
    return x;
}
template <class T>
using Read = std::conditional_t<is_complex<T>, const void*, const T*>;
template <class T>
using Written = std::conditional_t<is_complex<T>, void*, T*>;

/// The routines of a type.
template <class T>
struct Blas;

template <class T>
using Symm = void(const char*, const char*, const blas_int*, const blas_int*, const T*, const T*, const blas_int*,
                  const T*, const blas_int*, const T*, T*, const blas_int*);
template <class T>
using CblasSymm = void(int, int, int, blas_int, blas_int, Passed<T>, Read<T>, blas_int, Read<T>, blas_int, Passed<T>,
                       Written<T>, blas_int);
template <class T, class Scalar>
using RankK = void(const char*, const char*, const blas_int*, const blas_int*, const Scalar*, const T*, const blas_int*,
                   const Scalar*, T*, const blas_int*);
template <class T, class Scalar>
using CblasRankK = void(int, int, int, blas_int, blas_int, Passed<Scalar>, Read<T>, blas_int, Passed<Scalar>,
                        Written<T>, blas_int);
template <class T, class Scalar>
using Rank2K = void(const char*, const char*, const blas_int*, const blas_int*, const T*, const T*, const blas_int*,
                    const T*, const blas_int*, const Scalar*, T*, const blas_int*);
template <class T, class Scalar>
using CblasRank2K = void(int, int, int, blas_int, blas_int, Passed<T>, Read<T>, blas_int, Read<T>, blas_int,
                         Passed<Scalar>, Written<T>, blas_int);
template <class T>
using Triangular = void(const char*, const char*, const char*, const char*, const blas_int*, const blas_int*, const T*,
                        const T*, const blas_int*, T*, const blas_int*);
template <class T>
using CblasTriangular = void(int, int, int, int, int, blas_int, blas_int, Passed<T>, Read<T>, blas_int, Written<T>,
                             blas_int);

} // namespace tessera::test

#define TESSERA_DECLARE(T, x)                                  \
  tessera::test::Symm<T> NAME(x##symm_);                       \
  tessera::test::CblasSymm<T> NAME(cblas_##x##symm);           \
  tessera::test::RankK<T, T> NAME(x##syrk_);                   \
  tessera::test::CblasRankK<T, T> NAME(cblas_##x##syrk);       \
  tessera::test::Rank2K<T, T> NAME(x##syr2k_);                 \
  tessera::test::CblasRank2K<T, T> NAME(cblas_##x##syr2k);     \
  tessera::test::Triangular<T> NAME(x##trmm_), NAME(x##trsm_); \
  tessera::test::CblasTriangular<T> NAME(cblas_##x##trmm), NAME(cblas_##x##trsm);
#define TESSERA_DECLARE_COMPLEX(T, Scalar, x)                 \
  TESSERA_DECLARE(T, x)                                       \
  tessera::test::Symm<T> NAME(x##hemm_);                      \
  tessera::test::CblasSymm<T> NAME(cblas_##x##hemm);          \
  tessera::test::RankK<T, Scalar> NAME(x##herk_);             \
  tessera::test::CblasRankK<T, Scalar> NAME(cblas_##x##herk); \
  tessera::test::Rank2K<T, Scalar> NAME(x##her2k_);           \
  tessera::test::CblasRank2K<T, Scalar> NAME(cblas_##x##her2k);
extern "C" {
TESSERA_DECLARE(float, s)
TESSERA_DECLARE(double, d)
TESSERA_DECLARE_COMPLEX(std::complex<float>, float, c)
TESSERA_DECLARE_COMPLEX(std::complex<double>, double, z)
}

namespace tessera::test {

#define TESSERA_ROUTINES(x)                                                                       \
  static constexpr auto symm = &NAME(x##symm_);                                                   \
  static constexpr auto cblas_symm = &NAME(cblas_##x##symm);                                      \
  static constexpr auto syrk = &NAME(x##syrk_);                                                   \
  static constexpr auto cblas_syrk = &NAME(cblas_##x##syrk);                                      \
  static constexpr auto syr2k = &NAME(x##syr2k_);                                                 \
  static constexpr auto cblas_syr2k = &NAME(cblas_##x##syr2k);                                    \
  static constexpr auto trmm = &NAME(x##trmm_), trsm = &NAME(x##trsm_);                           \
  static constexpr auto cblas_trmm = &NAME(cblas_##x##trmm), cblas_trsm = &NAME(cblas_##x##trsm); \
  static constexpr char type = #x[0];
#define TESSERA_HERMITIAN_ROUTINES(x)                        \
  static constexpr auto hemm = &NAME(x##hemm_);              \
  static constexpr auto cblas_hemm = &NAME(cblas_##x##hemm); \
  static constexpr auto herk = &NAME(x##herk_);              \
  static constexpr auto cblas_herk = &NAME(cblas_##x##herk); \
  static constexpr auto her2k = &NAME(x##her2k_);            \
  static constexpr auto cblas_her2k = &NAME(cblas_##x##her2k);
template <>
struct Blas<float> {
  TESSERA_ROUTINES(s)
};
template <>
struct Blas<double> {
  TESSERA_ROUTINES(d)
};
template <>
struct Blas<std::complex<float>> {
  TESSERA_ROUTINES(c)
  TESSERA_HERMITIAN_ROUTINES(c)
};
template <>
struct Blas<std::complex<double>> {
  TESSERA_ROUTINES(z)
  TESSERA_HERMITIAN_ROUTINES(z)
};

enum { upper = 121, lower = 122, non_unit = 131, unit = 132, left_side = 141, right_side = 142 };

} // namespace tessera::test
