/// Products of 16-bit operands in tiles of all widths (224 columns make no whole boxes of 64), and in tf32 in tiles
/// whose results go to memory while the next tiles are multiplied. Operands are whole numbers so small that every sum
/// is exact, and the results must be z_order's in f32, rounded once.

#include "tile_widths.hpp"

#include <boost/test/unit_test.hpp>

#include <tessera/tessera.hpp>

#include "is_hopper.hpp"
#include "whole_numbers.hpp"

using namespace tessera;
using cuda_test::is_hopper;
using test::whole_numbers;

namespace {

struct WholeNumberProduct {
  Index m, n, k;
  bool transposed; ///< both operands
  float alpha = 1;

  /// Returns C, of type R, for operands of type T.
  template <class T, class R>
  Matrix<R> multiply(const GemmOptions& options, float beta, bool layer) const {
    const Matrix<T> a = transposed ? whole_numbers<T>(k, m, Seed{1}) : whole_numbers<T>(m, k, Seed{1});
    const Matrix<T> b = transposed ? whole_numbers<T>(n, k, Seed{2}) : whole_numbers<T>(k, n, Seed{2});
    const Matrix<R> bias = whole_numbers<R>(1, n, Seed{3}), residual = whole_numbers<R>(m, n, Seed{4});
    Matrix<R> c = whole_numbers<R>(m, n, Seed{5});
    const auto op_a = transposed ? a.transposed() : a.view(), op_b = transposed ? b.transposed() : b.view();
    if (layer)
      gemm(alpha, op_a, op_b, beta, c,
           {.bias = bias.view(), .activation = Activation::Relu, .residual = residual.view()}, options);
    else
      gemm(alpha, op_a, op_b, beta, c, options);
    return c;
  }
};

template <class T>
void compare(const char* kernel, Math math, const WholeNumberProduct& x, const char* what, float beta, bool layer) {
  const GemmOptions here{.backend = Backend::Cuda, .math = math, .kernel = kernel},
      exact{.backend = Backend::Cuda, .kernel = "z_order"};
  const Matrix<float> expected = x.multiply<float, float>(exact, beta, layer);
  BOOST_TEST_CONTEXT(kernel << ", " << x.m << "x" << x.n << "x" << x.k << (x.transposed ? ", transposed" : "")
                            << what) {
    BOOST_TEST((x.multiply<T, float>(here, beta, layer) == expected), "to f32");
    if constexpr (sizeof(T) < sizeof(float))
      BOOST_TEST((x.multiply<T, T>(here, beta, layer) == matrix_cast<T>(expected)), "to 16 bits");
  }
}

template <class T>
void check(const char* kernel, Math math) {
  if (!is_hopper()) return;
  const auto compare_all = [&](Index m, Index n, Index k) {
    for (const bool transposed : {false, true}) {
      const WholeNumberProduct x{m, n, k, transposed};
      compare<T>(kernel, math, x, "", 0, false);
      compare<T>(kernel, math, x, ", added to C", -1, false);
      compare<T>(kernel, math, x, ", with an epilogue", -1, true);
    }
  };
  for (const auto& [m, n, k] : test::products_in_large_tiles) compare_all(m, n, k);
  for (const auto& [m, n, k] : test::products_in_small_tiles) compare_all(m, n, k);
  for (const auto& [m, n, k] : test::products_in_rounds)
    for (const float beta : {0.0F, -1.0F})
      compare<T>(kernel, math, {m, n, k, false, 3}, beta == 0 ? ", times 3" : ", times 3, added to C", beta, false);
}

} // namespace

BOOST_AUTO_TEST_SUITE(tile_widths)

BOOST_AUTO_TEST_CASE(of_bf16) { check<bf16>("wgmma_bf16", Math::Bf16); }

BOOST_AUTO_TEST_CASE(of_fp16) { check<f16>("wgmma_fp16", Math::Fp16); }

BOOST_AUTO_TEST_CASE(of_tf32) {
  if (!is_hopper()) return;
  for (const auto& [m, n, k] : test::products_in_rounds_tf32)
    for (const bool transposed : {false, true})
      for (const float beta : {0.0F, -1.0F})
        compare<float>("wgmma_tf32", Math::Tf32, {m, n, k, transposed, 3},
                       beta == 0 ? ", times 3" : ", times 3, added to C", beta, false);
}

BOOST_AUTO_TEST_SUITE_END()
