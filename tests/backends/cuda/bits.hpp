#pragma once

/// Compares the bits of products that two kernels compute.

#include <algorithm>
#include <cstring>
#include <string>

#include <boost/test/unit_test.hpp>

#include <tessera/tessera.hpp>

namespace tessera::test {

/// Says whether the device's kernel takes such a product.
inline bool runs(const std::string& name, const GemmCall& call) {
  const auto kernels = executor(Backend::Cuda).gemm_kernels();
  const GemmKernel& kernel = *std::find_if(kernels.begin(), kernels.end(),
                                           [&](const GemmKernel& r) { return r.name == name && r.type == call.type; });
  return kernel.reject(kernel, call, executor(Backend::Cuda).capabilities()) == nullptr;
}

/// Checks that a kernel's product has the bits of z_order's, without and with an epilogue. A's elements are multiplied
/// by `scale` first.
template <class T>
void check_bits(const std::string& kernel, Index m, Index n, Index k, Op op_a, Op op_b, T scale = 1, T beta = T(0.5)) {
  const auto stored = [](Op op, Index rows, Index cols, Seed seed) {
    return op == Op::None ? Matrix<T>::random(rows, cols, seed) : Matrix<T>::random(cols, rows, seed);
  };
  Matrix<T> a = stored(op_a, m, k, Seed{1});
  for (Index i = 0; i < a.rows(); ++i)
    for (T& x : a.row(i)) x *= scale;
  const Matrix<T> b = stored(op_b, k, n, Seed{2});
  const Matrix<T> bias = Matrix<T>::random(1, n, Seed{4}), residual = Matrix<T>::random(m, n, Seed{5});
  const auto product = [&](const std::string& by, const MatrixEpilogue<T>& epilogue) {
    Matrix<T> c = Matrix<T>::random(m, n, Seed{3});
    gemm(T(1.5), op_a == Op::None ? a.view() : a.transposed(), op_b == Op::None ? b.view() : b.transposed(), beta, c,
         epilogue, {.backend = Backend::Cuda, .kernel = by});
    return c;
  };
  const auto check = [&](const char* what, const MatrixEpilogue<T>& epilogue) {
    const Matrix<T> expected = product("z_order", epilogue);
    const Matrix<T> result = product(kernel, epilogue);
    Index different = 0;
    for (Index i = 0; i < m; ++i)
      different +=
          std::memcmp(expected.row(i).data(), result.row(i).data(), static_cast<std::size_t>(n) * sizeof(T)) != 0;
    BOOST_TEST(different == 0, kernel << ", " << m << "x" << n << "x" << k << ", " << to_string(op_a) << ", "
                                      << to_string(op_b) << ", beta " << beta << what << ": " << different
                                      << " rows differ");
  };
  check("", {});
  check(", with an epilogue", {.bias = bias.view(), .activation = Activation::Gelu, .residual = residual.view()});
}

} // namespace tessera::test
