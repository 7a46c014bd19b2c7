/// Products that do not fit into the memory of a small device. Each case runs in a process of its own.

#include <boost/test/unit_test.hpp>

#include <tessera/tessera.hpp>

#include "small_device.hpp"
#include "support/expect.hpp"

using namespace tessera;
using tessera::test::expect_error;
using tessera::test::use_small_device;

namespace {

/// Compares a product of the device with the reference's, which is computed in one piece.
template <class T, class A, class B>
void compare_with_reference(const A& a, const B& b, T alpha, T beta, const char* what) {
  const Matrix<T> before = beta == T{0} ? Matrix<T>(a.rows(), b.cols(), std::numeric_limits<T>::quiet_NaN())
                                        : Matrix<T>::random(a.rows(), b.cols(), Seed{3});
  Matrix<T> streamed = before;
  Matrix<T> whole = before;
  gemm(alpha, a, b, beta, streamed, {.backend = Backend::Cuda});
  BOOST_TEST(streamed.newest_on() == nullptr); // a product in one piece stays on the device
  gemm(alpha, a, b, beta, whole, {.backend = Backend::Reference});
  BOOST_TEST((streamed == whole), what << ": alpha " << alpha << ", beta " << beta);
}

template <class T>
void every_transpose(Index m, Index n, Index k) {
  const auto a = Matrix<T>::random(m, k, Seed{1}), at = Matrix<T>::random(k, m, Seed{1});
  const auto b = Matrix<T>::random(k, n, Seed{2}), bt = Matrix<T>::random(n, k, Seed{2});
  compare_with_reference(a, b, T{1}, T{0}, "A·B");
  compare_with_reference(at.transposed(), b, T{1}, T{0.375}, "Aᵀ·B");
  compare_with_reference(a, bt.transposed(), T{-0.6875}, T{0}, "A·Bᵀ");
  compare_with_reference(at.transposed(), bt.transposed(), T{-0.6875}, T{1}, "Aᵀ·Bᵀ");
  compare_with_reference(a, b, T{0}, T{0.375}, "0·A·B");
}

} // namespace

BOOST_AUTO_TEST_SUITE(streaming)

BOOST_AUTO_TEST_CASE(the_bits_are_those_of_one_piece) {
  use_small_device();
  every_transpose<float>(500, 301, 2500);
  every_transpose<double>(150, 333, 2300);
  // The sums of slices of k are kept in f32 until the last slice is added.
  compare_with_reference(Matrix<bf16>::random(1500, 2900, Seed{1}),
                         Matrix<bf16>::random(40, 2900, Seed{2}).transposed(), bf16(-0.6875f), bf16(0.375f), "bf16");
}

BOOST_AUTO_TEST_CASE(one_slice_of_k_is_enough) {
  use_small_device();
  every_transpose<float>(2500, 1001, 64);
  compare_with_reference(Matrix<f16>::random(2600, 16, Seed{1}), Matrix<f16>::random(16, 2001, Seed{2}), f16(1.0f),
                         f16(0.0f), "f16");
  compare_with_reference(Matrix<float>::random(1500, 1, Seed{1}), Matrix<float>::random(1, 1600, Seed{2}), 2.0f, 0.5f,
                         "a column by a row");
}

BOOST_AUTO_TEST_CASE(long_and_thin) {
  use_small_device();
  compare_with_reference(Matrix<float>::random(3, 500'000, Seed{1}), Matrix<float>::random(500'000, 2, Seed{2}), 1.0f,
                         0.0f, "few elements, many slices");
  compare_with_reference(Matrix<float>::random(200'000, 5, Seed{1}), Matrix<float>::random(5, 3, Seed{2}), 2.0f, 1.0f,
                         "many rows");
}

BOOST_AUTO_TEST_CASE(rectangles_of_larger_matrices) {
  use_small_device();
  const auto a = Matrix<float>::random(700, 2000, Seed{1});
  const auto b = Matrix<float>::random(2000, 900, Seed{2});
  compare_with_reference(a.block(13, 100, 600, 1500), b.block(7, 5, 1500, 333), 1.0f, 0.5f, "views");
  Matrix<float> c(800, 800, 7.0f), expected = c;
  for (auto* target : {&c, &expected})
    gemm(1.0f, a.block(0, 0, 700, 1500), b.block(500, 0, 1500, 600), 1.0f, target->block(20, 50, 600, 700).transposed(),
         {.backend = target == &c ? Backend::Cuda : Backend::Reference});
  BOOST_TEST((c == expected));
}

BOOST_AUTO_TEST_CASE(raw_host_memory) {
  use_small_device();
  const auto a = Matrix<double>::random(400, 1500, Seed{1});
  const auto b = Matrix<double>::random(1500, 300, Seed{2});
  Matrix<double> c(400, 300);
  std::vector<double> raw(400 * 310, -1.0);
  gemm<double>(Op::None, Op::None, 400, 300, 1500, 1.0, a.data(), a.ld(), b.data(), b.ld(), 0.0, raw.data(), 310,
               {.backend = Backend::Cuda});
  gemm(1.0, a, b, 0.0, c, {.backend = Backend::Reference});
  for (Index i = 0; i < 400; ++i)
    for (Index j = 0; j < 310; ++j)
      if (raw[static_cast<std::size_t>(i * 310 + j)] != (j < 300 ? c(i, j) : -1.0)) {
        BOOST_ERROR("element (" << i << ", " << j << ")");
        return;
      }
}

BOOST_AUTO_TEST_CASE(what_was_on_the_device_stays_there) {
  use_small_device();
  const auto small = Matrix<float>::random(100, 100, Seed{1});
  const Matrix<float> on_device = gemm(small, small, Backend::Cuda);
  const auto large = Matrix<float>::random(100, 30'000, Seed{2});
  const Matrix<float> product = gemm(on_device, large, Backend::Cuda);
  BOOST_TEST((product == gemm(gemm(small, small, Backend::Reference), large, Backend::Reference)));
  BOOST_TEST(on_device.view().operand().storage->resident_on() == &executor(Backend::Cuda));
}

/// The operands, C and the bias fit into the device, but the residual does not.
BOOST_AUTO_TEST_CASE(what_an_epilogue_reads_leaves_the_device_again) {
  use_small_device();
  const auto a = Matrix<float>::random(1024, 16, Seed{1}), b = Matrix<float>::random(16, 1024, Seed{2});
  const auto residual = Matrix<float>::random(1024, 1024, Seed{3}), bias = Matrix<float>::random(1, 1024, Seed{4});
  const MatrixEpilogue<float> epilogue{
      .bias = bias.view(), .activation = Activation::Relu, .residual = residual.view()};
  Matrix<float> streamed(1024, 1024), whole(1024, 1024);
  for (auto* c : {&streamed, &whole})
    gemm(1.0f, a, b, 0.0f, *c, epilogue, {.backend = c == &streamed ? Backend::Cuda : Backend::Reference});
  BOOST_TEST((streamed == whole));
  for (const auto* x : {&a, &bias, &residual}) BOOST_TEST(x->view().operand().storage->resident_on() == nullptr);
}

BOOST_AUTO_TEST_CASE(a_device_that_is_too_small) { // SMALL_DEVICE is set
  use_small_device();
  const auto a = Matrix<float>::random(300, 2000, Seed{1});
  Matrix<float> c(300, 300, 5.0f);
  expect_error<OutOfMemory>([&] { gemm(1.0f, a, a.transposed(), 1.0f, c, {.backend = Backend::Cuda}); },
                            {"out of device memory", "64×64", "1024"});
  BOOST_TEST((c == Matrix<float>(300, 300, 5.0f)));
  const Matrix<float> two{{1, 2}, {3, 4}};
  BOOST_TEST((gemm(two, two, Backend::Cuda) == Matrix<float>{{7, 10}, {15, 22}}));
}

BOOST_AUTO_TEST_SUITE_END()
