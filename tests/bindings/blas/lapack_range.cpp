/// LAPACK's least squares in the drop-in with numbers near the ends of the range. Exit status: failed checks.

#include <cmath>

#include "systems.hpp"

#define TESSERA_DECLARE(T, s)                                                                                  \
  void NAME(s##gels_)(const char*, const blas_int*, const blas_int*, const blas_int*, T*, const blas_int*, T*, \
                      const blas_int*, T*, const blas_int*, blas_int*);
extern "C" {
TESSERA_DECLARE(float, s)
TESSERA_DECLARE(double, d)
TESSERA_DECLARE(std::complex<float>, c)
TESSERA_DECLARE(std::complex<double>, z)
}

namespace tessera::test {
namespace {

template <class T>
constexpr auto gels = nullptr;
template <>
constexpr auto gels<float> = &NAME(sgels_);
template <>
constexpr auto gels<double> = &NAME(dgels_);
template <>
constexpr auto gels<std::complex<float>> = &NAME(cgels_);
template <>
constexpr auto gels<std::complex<double>> = &NAME(zgels_);

template <class T>
constexpr const char* turned_letter = is_complex<T> ? "C" : "T";

/// Powers of two, by which A and B are multiplied, multiply X, up to the ends of the range: the numbers have few
/// digits.
template <class T>
void least_squares_near_the_ends(Index m, Index n) {
  using Limits = std::numeric_limits<Part<T>>;
  constexpr int most = Limits::max_exponent, least = Limits::min_exponent - Limits::digits + 10;
  const auto rows = static_cast<blas_int>(m), cols = static_cast<blas_int>(n), sides = blas_int{2};
  for (const char* const op : {"N", turned_letter<T>}) {
    const Index equations = *op == 'N' ? m : n, unknowns = *op == 'N' ? n : m;
    const auto solution = [&](int of_a, int of_b) {
      const auto few_digits = [](Index r, Index c, Seed seed, int exponent) {
        Matrix<T> x = Matrix<T>::random(r, c, seed);
        for (Index i = 0; i < r; ++i)
          for (T& number : x.row(i)) {
            auto* const parts = reinterpret_cast<Part<T>*>(&number);
            for (std::size_t p = 0; p < sizeof(T) / sizeof(Part<T>); ++p)
              parts[p] = std::ldexp(std::trunc(parts[p] * 1024) / 1024, exponent);
          }
        return x;
      };
      Matrix<T> memory(std::max(m, n), sides, T(Limits::max())); // rows that are not B's do not count
      const Matrix<T> b = few_digits(equations, sides, Seed{21}, of_b);
      for (Index i = 0; i < equations; ++i)
        for (Index j = 0; j < sides; ++j) memory(i, j) = b(i, j);
      Columns<T> matrix(few_digits(m, n, Seed{20}, of_a)), right(memory);
      blas_int info = 77;
      const blas_int length = 2 * (rows + cols);
      std::vector<T> work(static_cast<std::size_t>(length));
      gels<T>(op, &rows, &cols, &sides, matrix.data(), matrix.ld(), right.data(), right.ld(), work.data(), &length,
              &info);
      must_equal("gels' info near the ends of the range", info, 0);
      Matrix<T> x(unknowns, sides);
      for (Index i = 0; i < unknowns; ++i)
        for (Index j = 0; j < sides; ++j) x(i, j) = right.at(i, j);
      return x;
    };
    const Matrix<T> ordinary = solution(0, 0);
    for (const auto& [of_a, of_b] : {std::pair<int, int>{most, most}, {0, most - 20}, {least, least}, {least, 20}}) {
      Matrix<T> expected(ordinary.view());
      for (Index i = 0; i < unknowns; ++i)
        for (T& number : expected.row(i)) {
          auto* const parts = reinterpret_cast<Part<T>*>(&number);
          for (std::size_t p = 0; p < sizeof(T) / sizeof(Part<T>); ++p) parts[p] = std::ldexp(parts[p], of_b - of_a);
        }
      must_be_same("gels near the ends of the range", solution(of_a, of_b), expected);
    }
  }
}

template <class T>
void check() {
  least_squares_near_the_ends<T>(1, 1);
  least_squares_near_the_ends<T>(60, 40);
  least_squares_near_the_ends<T>(40, 60);
}

} // namespace
} // namespace tessera::test

int main() {
  tessera::test::check<float>();
  tessera::test::check<double>();
  tessera::test::check<std::complex<float>>();
  tessera::test::check<std::complex<double>>();
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
