/// Factorisations and systems of matrices: on the device that is to compute them, if it has the steps, and else on the
/// host with products anywhere.

#include <algorithm>
#include <utility>

#include <tessera/linear_algebra/cholesky.hpp>
#include <tessera/linear_algebra/lu.hpp>

#include "extensions/linear_algebra/enter.hpp"
#include "matrices.hpp"

namespace tessera::detail {

namespace device = linear_algebra::device;

template <class T>
void solve_triangle(const TriangularForm& form, const Matrix<T>& t, Matrix<T>& x, const SolveOptions& options) {
  expect_no_refinement("triangular_solve", options);
  if (x.empty()) return;
  if (linear_algebra::enter("triangular_solve", options,
                            [&] { return device::solve(form, device::whole(t), device::whole(x), options); }))
    return;
  auto call = triangular_call("triangular_solve", form.side, form.triangle, form.diagonal, t, x);
  call.op = form.op;
  triangular_solve(call, options);
}

template <class T>
void multiply_triangle(const TriangularForm& form, const Matrix<T>& t, Matrix<T>& x, const SolveOptions& options) {
  expect_no_refinement("triangular_multiply", options);
  if (x.empty()) return;
  if (linear_algebra::enter("triangular_multiply", options,
                            [&] { return device::multiply(form, device::whole(t), device::whole(x), options); }))
    return;
  auto call = triangular_call("triangular_multiply", form.side, form.triangle, form.diagonal, t, x);
  call.op = form.op;
  triangular_multiply(call, options);
}

template <class T>
Index factor_cholesky(Matrix<T>& a, ScaledNumber& norm, const SolveOptions& options) {
  const Index n = a.rows();
  if (const auto found = linear_algebra::enter("Cholesky", options,
                                               [&] { return device::factor_cholesky(device::whole(a), options); })) {
    norm = found->norm;
    return found->failed < 0 ? n : found->failed;
  }
  norm = norm_1_of_lower(std::as_const(a));
  const Index done = factor_cholesky(number_type_of<T>, Triangle::Lower, n, a.data(), a.ld(), options);
  for (Index i = 0; i < n; ++i) std::fill(a.row(i).begin() + i + 1, a.row(i).end(), T(0));
  return done;
}

template <class T>
Index factor_lu(Matrix<T>& a, std::span<Index> pivots, ScaledNumber& norm, const SolveOptions& options) {
  if (const auto found =
          linear_algebra::enter("Lu", options, [&] { return device::factor_lu(device::whole(a), pivots, options); })) {
    norm = found->norm;
    return found->failed;
  }
  norm = norm_1(std::as_const(a));
  return factor_lu(number_type_of<T>, Op::None, a.rows(), a.cols(), a.data(), a.ld(), RowNumbers(pivots.data()),
                   options);
}

namespace {

template <class T>
void exchange_rows(std::span<const Index> pivots, bool ascends, Matrix<T>& x, const SolveOptions& options) {
  if (device::exchange_rows(pivots, ascends, device::whole(x), options)) return;
  const auto count = static_cast<Index>(pivots.size());
  for (Index step = 0; step < count; ++step) {
    const Index row = ascends ? step : count - 1 - step, other = pivots[static_cast<std::size_t>(row)];
    if (other != row) std::ranges::swap_ranges(x.row(row), x.row(other));
  }
}

} // namespace

template <class T>
void solve_factored(const Matrix<T>& lu, std::span<const Index> pivots, Op op, Matrix<T>& x,
                    const SolveOptions& options) {
  const TriangularForm lower{Side::Left, Triangle::Lower, op, Diagonal::Unit},
      upper{Side::Left, Triangle::Upper, op, Diagonal::Stored};
  const bool is_turned = op != Op::None;
  const auto exchange = [&](bool ascends) {
    linear_algebra::enter("Lu::solve", options, [&] { exchange_rows(pivots, ascends, x, options); });
  };
  if (!is_turned) exchange(true);
  solve_triangle(is_turned ? upper : lower, lu, x, options);
  solve_triangle(is_turned ? lower : upper, lu, x, options);
  if (is_turned) exchange(false);
}

#define TESSERA_INSTANTIATE(T)                                                                               \
  template void solve_triangle(const TriangularForm&, const Matrix<T>&, Matrix<T>&, const SolveOptions&);    \
  template void multiply_triangle(const TriangularForm&, const Matrix<T>&, Matrix<T>&, const SolveOptions&); \
  template Index factor_cholesky(Matrix<T>&, ScaledNumber&, const SolveOptions&);                            \
  template Index factor_lu(Matrix<T>&, std::span<Index>, ScaledNumber&, const SolveOptions&);                \
  template void solve_factored(const Matrix<T>&, std::span<const Index>, Op, Matrix<T>&, const SolveOptions&);
TESSERA_INSTANTIATE(float)
TESSERA_INSTANTIATE(double)
TESSERA_INSTANTIATE(std::complex<float>)
TESSERA_INSTANTIATE(std::complex<double>)
#undef TESSERA_INSTANTIATE

} // namespace tessera::detail
