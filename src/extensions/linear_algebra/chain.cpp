#include "chain.hpp"

#include "reference/fma_clones.hpp"

namespace tessera::linear_algebra {
namespace {

template <class T>
[[gnu::always_inline]] inline T extend_real(T chain, Index count, const Run<T>& a, const Run<T>& b) {
  for (Index k = 0; k < count; ++k) chain = std::fma(a.data[k * a.step], b.data[k * b.step], chain);
  return chain;
}

template <class T>
[[gnu::always_inline]] inline std::complex<T> extend_complex(std::complex<T> chain, Index count,
                                                             const Run<std::complex<T>>& a,
                                                             const Run<std::complex<T>>& b) {
  const T *x = reinterpret_cast<const T*>(a.data), *y = reinterpret_cast<const T*>(b.data);
  T sum[2] = {chain.real(), chain.imag()};
  for (Index k = 0; k < count; ++k, x += 2 * a.step, y += 2 * b.step) {
    const T x_im = a.conjugate ? -x[1] : x[1], y_im = b.conjugate ? -y[1] : y[1];
    sum[0] = std::fma(x[0], y[0], sum[0]);
    sum[1] = std::fma(x[0], y_im, sum[1]);
    sum[0] = std::fma(x_im, -y_im, sum[0]);
    sum[1] = std::fma(x_im, y[0], sum[1]);
  }
  return {sum[0], sum[1]};
}

} // namespace

TESSERA_FMA_CLONES float extend_chain(float chain, Index count, Run<float> a, Run<float> b) {
  return extend_real(chain, count, a, b);
}
TESSERA_FMA_CLONES double extend_chain(double chain, Index count, Run<double> a, Run<double> b) {
  return extend_real(chain, count, a, b);
}
TESSERA_FMA_CLONES std::complex<float> extend_chain(std::complex<float> chain, Index count, Run<std::complex<float>> a,
                                                    Run<std::complex<float>> b) {
  return extend_complex(chain, count, a, b);
}
TESSERA_FMA_CLONES std::complex<double> extend_chain(std::complex<double> chain, Index count,
                                                     Run<std::complex<double>> a, Run<std::complex<double>> b) {
  return extend_complex(chain, count, a, b);
}

} // namespace tessera::linear_algebra
