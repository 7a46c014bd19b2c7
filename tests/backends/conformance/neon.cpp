/// Compares every strict kernel that keeps the contract of the OpenMP plug-in with the reference, by == on the bits.
/// neon.sh builds this program, which is without Boost, for AArch64 and runs it under an emulator. Usage: neon
/// INSTRUCTION-SET, where INSTRUCTION-SET is the one that must be in use.

#include <cstdio>
#include <cstring>
#include <limits>
#include <vector>

#include <tessera/tessera.hpp>

using namespace tessera;

namespace {

constexpr GemmShape shapes[] = {{1, 1, 1},    {2, 3, 4},   {7, 11, 5},   {8, 12, 16},   {9, 13, 17},    {17, 19, 23},
                                {1, 300, 40}, {40, 1, 30}, {33, 65, 70}, {16, 260, 64}, {29, 50, 1025}, {3, 40, 2049}};

template <class T>
class Problem {
 public:
  Problem(const GemmShape& shape, Op op_a, Op op_b, T alpha, T beta)
      : shape_(shape),
        op_a_(op_a),
        op_b_(op_b),
        alpha_(alpha),
        beta_(beta),
        a_(Matrix<T>::random(op_a == Op::None ? shape.m : shape.k, op_a == Op::None ? shape.k : shape.m, Seed{1})),
        b_(Matrix<T>::random(op_b == Op::None ? shape.k : shape.n, op_b == Op::None ? shape.n : shape.k, Seed{2})),
        c_(Matrix<T>::random(shape.m, shape.n, Seed{3})) {}

  std::vector<T> product(const GemmOptions& options) const {
    // There is a gap after each row, which a kernel must not touch. C is NaN where it must not be read.
    const Index ld = shape_.n + 3;
    std::vector<T> c(static_cast<std::size_t>(shape_.m * ld), std::numeric_limits<T>::quiet_NaN());
    if (beta_ != T{0})
      for (Index i = 0; i < shape_.m; ++i)
        std::memcpy(c.data() + i * ld, c_.data() + i * c_.ld(), static_cast<std::size_t>(shape_.n) * sizeof(T));
    gemm(op_a_, op_b_, shape_.m, shape_.n, shape_.k, alpha_, a_.data(), a_.ld(), b_.data(), b_.ld(), beta_, c.data(),
         ld, options);
    return c;
  }

 private:
  GemmShape shape_;
  Op op_a_, op_b_;
  T alpha_, beta_;
  const Matrix<T> a_, b_, c_;
};

int compared = 0;

/// Returns how many kernels give other bits than the reference.
template <class T>
int differing(const Problem<T>& problem, const GemmShape& shape) {
  const std::vector<T> expected = problem.product({.backend = Backend::Reference});
  int wrong = 0;
  for (const GemmKernel& kernel : gemm_kernels(Backend::OpenMP)) {
    if (kernel.type != dtype_of<T> || kernel.math != Math::Strict || kernel.summation != Summation::Canonical) continue;
    for (const int threads : {1, 3}) {
      const std::vector<T> c = problem.product({.backend = Backend::OpenMP, .kernel = kernel.name, .threads = threads});
      ++compared;
      if (std::memcmp(c.data(), expected.data(), c.size() * sizeof(T)) == 0) continue;
      ++wrong;
      std::printf("%s, %s, %lld×%lld×%lld, %d threads: other bits than the reference's\n", kernel.name,
                  std::string(to_string(kernel.type)).c_str(), static_cast<long long>(shape.m),
                  static_cast<long long>(shape.n), static_cast<long long>(shape.k), threads);
    }
  }
  return wrong;
}

template <class T>
int check() {
  int wrong = 0;
  for (const GemmShape& shape : shapes)
    for (const Op op_a : {Op::None, Op::Transpose})
      for (const Op op_b : {Op::None, Op::Transpose}) {
        wrong += differing(Problem<T>(shape, op_a, op_b, T{1}, T{0}), shape);
        wrong += differing(Problem<T>(shape, op_a, op_b, T{-0.75}, T{1.5}), shape);
      }
  return wrong;
}

} // namespace

int main(int argc, char** argv) try {
  const std::string wanted = argc > 1 ? argv[1] : "neon";
  const std::string used = executor(Backend::OpenMP).capabilities().instruction_set;
  if (used != wanted) {
    std::printf("the instruction set in use is %s, expected %s\n", used.c_str(), wanted.c_str());
    return 1;
  }
  const int wrong = check<float>() + check<double>();
  std::printf("%s: %d products compared with the reference, %d differ\n", used.c_str(), compared, wrong);
  return wrong == 0 && compared > 0 ? 0 : 1;
} catch (const std::exception& error) {
  std::printf("%s\n", error.what());
  return 1;
}
