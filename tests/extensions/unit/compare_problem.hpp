#pragma once

/// A product with its data, for tests of the comparison.

#include <tessera/backend.hpp>
#include <tessera/checking/compare.hpp>
#include <tessera/matrix.hpp>

namespace tessera::test {

template <class T>
struct CompareProblem {
  Matrix<T> a, b, c; ///< c is C before the product
  Op op_a = Op::None;
  Op op_b = Op::None;
  double alpha = 1;
  double beta = 0;

  CompareProblem(Index m, Index n, Index k, std::uint64_t seed = 1)
      : a(Matrix<T>::random(m, k, Seed{seed})),
        b(Matrix<T>::random(k, n, Seed{seed + 1})),
        c(Matrix<T>::random(m, n, Seed{seed + 2})) {}
  CompareProblem(Matrix<T> left, Matrix<T> right) : a(std::move(left)), b(std::move(right)), c(a.rows(), b.cols()) {}

  Index m() const { return op_a == Op::None ? a.rows() : a.cols(); }
  Index n() const { return op_b == Op::None ? b.cols() : b.rows(); }
  Index k() const { return op_a == Op::None ? a.cols() : a.rows(); }

  /// Returns the call that writes its result to `result`.
  GemmCall call(Matrix<T>& result) const {
    return {{.type = dtype_of<T>,
             .op_a = op_a,
             .op_b = op_b,
             .m = m(),
             .n = n(),
             .k = k(),
             .alpha = alpha,
             .a = a.data(),
             .lda = a.ld(),
             .b = b.data(),
             .ldb = b.ld(),
             .beta = beta,
             .c = result.data(),
             .ldc = result.ld()}};
  }
  GemmReference reference(int threads = 1) const {
    Matrix<T> before = c;
    return GemmReference(call(before), threads);
  }
  /// Returns the result of a kernel of the reference ladder.
  Matrix<T> run(const char* kernel) const {
    Matrix<T> result = c;
    Executor& serial = executor(Backend::Reference);
    throw_if_failed(serial.gemm(serial.default_queue(), call(result), kernel));
    return result;
  }
};

template <class T>
GemmError errors(const GemmReference& reference, const Matrix<T>& c, const Arithmetic& arithmetic) {
  return reference.compare(c.data(), c.ld(), arithmetic);
}

template <class T>
constexpr Arithmetic strict{dtype_of<T>, Math::Strict, Summation::Other, Accumulator::Native};

} // namespace tessera::test
