#include <algorithm>

#include "reference/fma_clones.hpp"
#include "sided.hpp"

namespace tessera::linear_algebra {
namespace {

template <class T, class P>
[[gnu::always_inline]] inline void scale_row(T alpha, Index parts, P* x) {
  if constexpr (is_complex<T>) {
    const P re = alpha.real(), im = alpha.imag();
    if (im != 0) {
      for (Index i = 0; i < parts; i += 2) {
        const P x_re = x[i], x_im = x[i + 1];
        x[i] = std::fma(-im, x_im, re * x_re);
        x[i + 1] = std::fma(im, x_re, re * x_im);
      }
      return;
    }
    for (Index i = 0; i < parts; ++i) x[i] *= re;
  } else {
    for (Index i = 0; i < parts; ++i) x[i] *= alpha;
  }
}

TESSERA_FMA_CLONES void scale_parts(float alpha, Index parts, float* x) { scale_row(alpha, parts, x); }
TESSERA_FMA_CLONES void scale_parts(double alpha, Index parts, double* x) { scale_row(alpha, parts, x); }
TESSERA_FMA_CLONES void scale_parts(std::complex<float> alpha, Index parts, float* x) { scale_row(alpha, parts, x); }
TESSERA_FMA_CLONES void scale_parts(std::complex<double> alpha, Index parts, double* x) { scale_row(alpha, parts, x); }

} // namespace

template <class T>
void scale(T alpha, Index rows, Index cols, Block<T> b) {
  for (Index i = 0; i < rows; ++i)
    if (alpha == T(0))
      std::fill(b.at(i, 0), b.at(i, cols), T(0));
    else
      scale_parts(alpha, Number<T>::parts * cols, reinterpret_cast<Part<T>*>(b.at(i, 0)));
}

template void scale(float, Index, Index, Block<float>);
template void scale(double, Index, Index, Block<double>);
template void scale(std::complex<float>, Index, Index, Block<std::complex<float>>);
template void scale(std::complex<double>, Index, Index, Block<std::complex<double>>);

} // namespace tessera::linear_algebra
