/// QR factors by Householder's reflections, column by column: a mirror turns the rest of a column into a multiple of
/// the first unit vector, and is applied to all columns right of it.
///
/// A reflection is applied in two passes over the rest of the matrix: the products w of its vector with all columns,
/// and the subtraction of v times w. So everything is read twice and written once for each column.

#include <cmath>
#include <complex>
#include <vector>

#include "numbers.hpp"
#include "textbook.hpp"

namespace tessera::compare_app::textbook {

template <class T>
void qr_unblocked(Index n, T* a, T* tau) {
  std::vector<T> w(static_cast<std::size_t>(n));
  for (Index j = 0; j < n; ++j) {
    T& alpha = a[j * n + j];
    auto squares = square(T(0));
    for (Index i = j + 1; i < n; ++i) squares += square(a[i * n + j]);
    tau[j] = 0;
    if (squares == 0 && std::imag(alpha) == 0) continue; // nothing to clear
    const auto beta = -std::copysign(std::sqrt(square(alpha) + squares), std::real(alpha));
    tau[j] = (beta - alpha) / beta;
    for (Index i = j + 1; i < n; ++i) a[i * n + j] /= alpha - beta;
    alpha = beta;
    for (Index k = j + 1; k < n; ++k) w[static_cast<std::size_t>(k)] = a[j * n + k];
    for (Index i = j + 1; i < n; ++i)
      for (Index k = j + 1; k < n; ++k)
        w[static_cast<std::size_t>(k)] += product(conjugate(a[i * n + j]), a[i * n + k]);
    const T turn = conjugate(tau[j]); // R is Qᴴ·A
    for (Index k = j + 1; k < n; ++k)
      a[j * n + k] -= w[static_cast<std::size_t>(k)] = product(turn, w[static_cast<std::size_t>(k)]);
    for (Index i = j + 1; i < n; ++i)
      for (Index k = j + 1; k < n; ++k) a[i * n + k] -= product(a[i * n + j], w[static_cast<std::size_t>(k)]);
  }
}

template void qr_unblocked(Index, float*, float*);
template void qr_unblocked(Index, double*, double*);
template void qr_unblocked(Index, std::complex<float>*, std::complex<float>*);
template void qr_unblocked(Index, std::complex<double>*, std::complex<double>*);

} // namespace tessera::compare_app::textbook
