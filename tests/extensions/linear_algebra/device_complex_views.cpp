/// Tests of transposed and conjugated views of complex matrices, of their products, and of Cholesky's factors of an
/// upper triangle, which a device computes where the matrices are.

#include <algorithm>

#include <boost/test/unit_test.hpp>

#include "core/tools/recorder.hpp"
#include "device_steps.hpp"
#include "systems.hpp"

namespace tessera::test {
namespace {

using ComplexSystems = std::tuple<std::complex<float>, std::complex<double>>;

/// Has a device room for complex products, which expand an operand?
bool has_room() { return !has_panels() || device().capabilities().memory_bytes > std::size_t{1} << 20; }

/// Returns a copy whose newest numbers are on the device.
template <class T>
Matrix<T> brought(const Matrix<T>& a) {
  return gemm(a, Matrix<T>::identity(a.cols()), {.backend = tested_backend()});
}

/// Counts the copies from the device.
class CopiesBack {
 public:
  Index count() {
    return std::ranges::count_if(recorder_.of(tools::Kind::CopyOut), [](const auto& step) { return !step.is_end; });
  }

 private:
  Recorder recorder_;
};

} // namespace

BOOST_AUTO_TEST_SUITE(device_complex_views)

/// Both transposes of a matrix, of a block and of their transposes.
BOOST_AUTO_TEST_CASE_TEMPLATE(transposes, T, ComplexSystems) {
  if (!has_room()) return;
  for (const auto& [m, n] : {std::pair<Index, Index>{1, 1}, {70, 33}, {5, 130}}) BOOST_TEST_CONTEXT(m << "×" << n) {
      const Matrix<T> host = Matrix<T>::random(m, n, Seed{1});
      Matrix<T> turned(n, m), adjoint(n, m), conjugated(m, n);
      for (Index i = 0; i < m; ++i)
        for (Index j = 0; j < n; ++j) {
          turned(j, i) = host(i, j);
          adjoint(j, i) = conjugated(i, j) = std::conj(host(i, j));
        }
      const Matrix<T> a = brought(host);
      BOOST_TEST(differing(a, host) == 0);
      const Matrix<T> there = brought(host);
      CopiesBack copies;
      const Matrix<T> of_a(there.transposed()), of_block(there.block(m / 2, n / 3, 1, n - n / 3).transposed()),
          conjugate = conjugate_transpose(there), twice = conjugate_transpose(there.transposed()),
          straight(there.transposed().transposed());
      if (keeps_all()) {
        for (const Matrix<T>* x : {&of_a, &of_block, &conjugate, &twice, &straight, &there}) BOOST_TEST(is_there(*x));
        BOOST_TEST(copies.count() == 0);
      }
      BOOST_TEST(differing(of_a, turned) == 0);
      BOOST_TEST(differing(of_block, Matrix<T>(std::as_const(turned).block(n / 3, m / 2, n - n / 3, 1))) == 0);
      BOOST_TEST(differing(conjugate, adjoint) == 0);
      BOOST_TEST(differing(twice, conjugated) == 0);
      BOOST_TEST(differing(straight, host) == 0);
    }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(products, T, ComplexSystems) {
  if (!has_room()) return;
  const Matrix<T> left = Matrix<T>::random(90, 60, Seed{2}), right = Matrix<T>::random(60, 40, Seed{3});
  const GemmOptions reference{.backend = Backend::Reference}, options{.backend = tested_backend()};
  const Matrix<T> a = brought(left), b = brought(right);
  CopiesBack copies;
  const Matrix<T> c = gemm(a, b, options), by_place = gemm(a, b),
                  turned = gemm(b.transposed(), a.transposed(), options),
                  part = gemm(a.block(3, 7, 50, 20), b.block(30, 1, 20, 30), options),
                  of_parts = gemm(a.block(3, 7, 50, 20).transposed(), a.block(3, 20, 50, 9), options);
  if (keeps_all()) {
    for (const Matrix<T>* x : {&c, &by_place, &turned, &part, &of_parts, &a, &b}) BOOST_TEST(is_there(*x));
    BOOST_TEST(copies.count() == 0);
  }
  BOOST_TEST(differing(c, gemm(left, right, reference)) == 0);
  BOOST_TEST(differing(by_place, c) == 0);
  BOOST_TEST(differing(turned, gemm(right.transposed(), left.transposed(), reference)) == 0);
  BOOST_TEST(differing(part, gemm(left.block(3, 7, 50, 20), right.block(30, 1, 20, 30), reference)) == 0);
  BOOST_TEST(differing(of_parts, gemm(left.block(3, 7, 50, 20).transposed(), left.block(3, 20, 50, 9), reference)) ==
             0);
  BOOST_CHECK_THROW(gemm(a, a, options), InvalidArgument);
  BOOST_TEST(gemm(Matrix<T>(4, 0), Matrix<T>(0, 2), options)(3, 1) == T(0));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(upper_triangles, T, ComplexSystems) {
  if (!keeps_all()) return;
  const Index n = 150;
  Matrix<T> upper = positive<T>(n, Seed{4});
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < i; ++j) upper(i, j) = 7; // not read
  const Matrix<T> there = brought(upper), b = brought(Matrix<T>::random(n, 3, Seed{5}));
  const Cholesky expected(upper, Triangle::Upper, formulas);
  CopiesBack copies;
  const Cholesky cholesky(there, Triangle::Upper, tested());
  BOOST_TEST(copies.count() == 2); // the sums of the norm, and the first failure
  BOOST_TEST(is_there(cholesky.l()));
  BOOST_TEST(is_there(there));
  const Matrix<T> x = cholesky.solve(b), of_transpose = Cholesky(there.transposed(), Triangle::Lower, tested()).l(),
                  y = triangular_solve(Triangle::Upper, conjugate_transpose(cholesky.l()), b, Side::Left,
                                       Diagonal::Stored, tested());
  for (const Matrix<T>* result : {&x, &of_transpose, &y}) BOOST_TEST(is_there(*result));
  BOOST_TEST(differing(cholesky.l(), expected.l()) == 0);
  BOOST_TEST(differing(x, expected.solve(b)) == 0);
  BOOST_TEST(differing(of_transpose, Cholesky(upper.transposed(), Triangle::Lower, formulas).l()) == 0);
  BOOST_TEST(differing(y, triangular_solve(Triangle::Upper, conjugate_transpose(expected.l()), b, Side::Left,
                                           Diagonal::Stored, formulas)) == 0);
}

/// A device without room for a second matrix leaves transposes to the host, and products go there in blocks.
BOOST_AUTO_TEST_CASE_TEMPLATE(without_room, T, ComplexSystems) {
  if (!has_panels() || !has_room() || device().capabilities().memory_bytes > std::size_t{1} << 24) return;
  const auto room = static_cast<Index>(device().capabilities().memory_bytes / sizeof(T));
  const Index n = 64, m = room / n * 6 / 10;
  const Matrix<T> a = Matrix<T>::random(m, n, Seed{6}), square = Matrix<T>::random(n, n, Seed{7});
  const GemmOptions reference{.backend = Backend::Reference}, options{.backend = tested_backend()};
  const Matrix<T> there = a, product = gemm(there, square, options);
  BOOST_TEST(differing(product, gemm(a, square, reference)) == 0);
  BOOST_TEST(differing(Matrix<T>(Matrix<T>(product.transposed()).transposed()), product) == 0);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::test
