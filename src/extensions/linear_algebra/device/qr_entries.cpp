/// QR of matrices: on the device that is to compute it, if it has the steps, and else on the host with products
/// anywhere.

#include <algorithm>
#include <cmath>
#include <utility>

#include <tessera/detail/floating_point.hpp>
#include <tessera/linear_algebra/qr.hpp>

#include "extensions/linear_algebra/enter.hpp"
#include "extensions/linear_algebra/numbers.hpp"
#include "extensions/linear_algebra/qr/range.hpp"
#include "qr_matrices.hpp"

namespace tessera::detail {

namespace device = linear_algebra::device;

namespace {

template <class T>
Index first_zero(const Matrix<T>& qr, Index steps) {
  for (Index j = 0; j < steps; ++j)
    if (is_exact_zero(qr(j, j))) return j;
  return -1;
}

} // namespace

template <class T>
Index factor_qr(Matrix<T>& a, Matrix<T>& tau, const SolveOptions& options) {
  if (const auto zero = linear_algebra::enter(
          "Qr", options, [&] { return device::factor_qr(device::whole(a), device::whole(tau), options); }))
    return *zero;
  factor_qr(number_type_of<T>, Op::None, a.rows(), a.cols(), a.data(), a.ld(), tau.data(), options);
  return first_zero(std::as_const(a), tau.cols());
}

template <class T>
void multiply_q(const Matrix<T>& qr, const Matrix<T>& tau, Op op, Matrix<T>& c, const SolveOptions& options) {
  if (linear_algebra::enter("Qr", options, [&] {
        return device::multiply_q(device::whole(qr), device::whole(tau), op != Op::None, device::whole(c), options);
      }))
    return;
  multiply_q({.type = number_type_of<T>,
              .stored = Op::None,
              .m = qr.rows(),
              .k = tau.cols(),
              .v = qr.data(),
              .ldv = qr.ld(),
              .tau = tau.data()},
             op, Op::None, c.cols(), c.data(), c.ld(), options);
}

template <class T>
Matrix<T> form_q(const Matrix<T>& qr, const Matrix<T>& tau, const SolveOptions& options) {
  const Index steps = tau.cols();
  Matrix<T> result = Matrix<T>::uninitialized(qr.rows(), steps);
  if (linear_algebra::enter("Qr", options, [&] {
        return device::form_q(device::whole(qr), device::whole(tau), device::whole(result), options);
      }))
    return result;
  result = Matrix<T>(qr.block(0, 0, qr.rows(), steps));
  form_q(number_type_of<T>, Op::None, qr.rows(), steps, steps, result.data(), result.ld(), tau.data(), options);
  return result;
}

template <class T>
Matrix<T> upper_part(const Matrix<T>& a, Index rows) {
  Matrix<T> result(a.block(0, 0, rows, a.cols()));
  if (device::clear_lower(device::whole(result))) return result;
  for (Index i = 0; i < rows; ++i) std::fill_n(result.row(i).begin(), std::min(i, a.cols()), T(0));
  return result;
}

template <class T>
int bring_into_range(Matrix<T>& a) {
  if (a.newest_on() != nullptr) {
    const ContractArithmetic contract;
    const int exponent = linear_algebra::range_exponent<linear_algebra::Part<T>>(reduce(a.operand(), ReduceOp::MaxAbs));
    multiply_by_power(a, exponent);
    return exponent;
  }
  return bring_into_range(a.rows(), a.cols(), a.data(), a.ld());
}

template <class T>
void multiply_by_power(Matrix<T>& a, int exponent) {
  if (exponent == 0) return;
  if (a.newest_on() != nullptr) return scale(std::ldexp(1.0, exponent), a.operand(), a.operand());
  multiply_by_power(a.rows(), a.cols(), a.data(), a.ld(), exponent);
}

#define TESSERA_INSTANTIATE(T)                                                                       \
  template Index factor_qr(Matrix<T>&, Matrix<T>&, const SolveOptions&);                             \
  template void multiply_q(const Matrix<T>&, const Matrix<T>&, Op, Matrix<T>&, const SolveOptions&); \
  template Matrix<T> form_q(const Matrix<T>&, const Matrix<T>&, const SolveOptions&);                \
  template Matrix<T> upper_part(const Matrix<T>&, Index);                                            \
  template int bring_into_range(Matrix<T>&);                                                         \
  template void multiply_by_power(Matrix<T>&, int);
TESSERA_INSTANTIATE(float)
TESSERA_INSTANTIATE(double)
TESSERA_INSTANTIATE(std::complex<float>)
TESSERA_INSTANTIATE(std::complex<double>)
#undef TESSERA_INSTANTIATE

} // namespace tessera::detail
