/// Tests that the QR factorisation has the bits of the contract's formulas, whatever the shape, the data and the
/// threads, and what it says of wrong arguments.

#include <limits>
#include <utility>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "systems.hpp"

namespace tessera::test {
namespace {

template <class T>
void same_factors(const Matrix<T>& a, const SolveOptions& options) {
  const Qr qr(a, options), expected(a, formulas);
  BOOST_TEST(differing(qr.packed(), expected.packed()) == 0);
  for (std::size_t j = 0; j < qr.tau().size(); ++j) BOOST_TEST_CONTEXT("tau of column " << j)
  BOOST_TEST(same_bits(qr.tau()[j], expected.tau()[j]));
  BOOST_TEST(differing(qr.q(), expected.q()) == 0);
  BOOST_TEST(differing(qr.r(), expected.r()) == 0);
}

/// Q and Qᵀ are applied to matrices by rows, and by columns through the calls below the class.
template <class T>
void same_products(const Matrix<T>& a, Index count) {
  const Qr qr(a, tested()), expected(a, formulas);
  const Matrix<T> b = Matrix<T>::random(a.rows(), count, Seed{2});
  BOOST_TEST(differing(qr.multiply_q(b), expected.multiply_q(b)) == 0);
  const Matrix<T> rotated = expected.multiply_q_transposed(b);
  BOOST_TEST(differing(qr.multiply_q_transposed(b), rotated) == 0);
  Matrix<T> turned(b.transposed());
  const detail::Reflections q{.type = detail::number_type_of<T>,
                              .m = a.rows(),
                              .k = static_cast<Index>(qr.tau().size()),
                              .v = qr.packed().data(),
                              .ldv = qr.packed().ld(),
                              .tau = qr.tau().data()};
  detail::multiply_q(q, Op::Transpose, Op::Transpose, count, turned.data(), turned.ld(), tested());
  BOOST_TEST(differing(turned, Matrix<T>(rotated.transposed())) == 0);
}

/// The memory may hold the transpose, as LAPACK's does.
template <class T>
void same_by_columns(const Matrix<T>& a) {
  const Qr expected(a, formulas);
  Matrix<T> turned(a.transposed());
  std::vector<T> tau(expected.tau().size());
  detail::factor_qr(detail::number_type_of<T>, Op::Transpose, a.rows(), a.cols(), turned.data(), turned.ld(),
                    tau.data(), tested());
  BOOST_TEST(differing(turned, Matrix<T>(expected.packed().transposed())) == 0);
  if (a.rows() < a.cols()) return;
  // More columns of Q than there are reflections.
  for (const SolveOptions& options : {tested(), formulas}) {
    Matrix<T> q(turned.view());
    detail::form_q(detail::number_type_of<T>, Op::Transpose, a.rows(), a.cols(), a.cols() / 2, q.data(), q.ld(),
                   tau.data(), options);
    Matrix<T> unit(a.rows(), a.cols());
    for (Index j = 0; j < a.cols(); ++j) unit(j, j) = 1;
    const Index half = a.cols() / 2;
    if (half == 0) continue;
    const Qr leading(a.block(0, 0, a.rows(), half), options);
    BOOST_TEST(differing(Matrix<T>(q.block(half, 0, a.cols() - half, a.rows()).transposed()),
                         Matrix<T>(leading.multiply_q(unit).block(0, half, a.rows(), a.cols() - half))) == 0);
  }
}

/// Random shapes, m and n from 1 to `largest`.
std::vector<std::pair<Index, Index>> shapes(Index count, Index largest) {
  const auto random = Matrix<double>::random(count, 2, Seed{21}, Distribution::Uniform, 0, 1);
  std::vector<std::pair<Index, Index>> result;
  for (Index i = 0; i < count; ++i)
    result.emplace_back(1 + static_cast<Index>(random(i, 0) * static_cast<double>(largest)),
                        1 + static_cast<Index>(random(i, 1) * static_cast<double>(largest)));
  return result;
}

/// Columns whose squares overflow, underflow or are subnormal, columns of zeros and of equal numbers. Some complex ones
/// are real, or real but for their first number.
template <class T>
Matrix<T> hard_columns(Index m, Index n) {
  using P = Part<T>;
  Matrix<T> a = Matrix<T>::random(m, n, Seed{5});
  const P huge = std::numeric_limits<P>::max() / P(1e8), tiny = std::numeric_limits<P>::min() * P(1e8);
  const P factors[] = {1, huge, tiny, std::numeric_limits<P>::denorm_min() * 64, 0, P(-1e-20), P(1e15)};
  for (Index j = 0; j < n; ++j)
    for (Index i = 0; i < m; ++i) a(i, j) *= factors[j % 7];
  for (Index i = 0; i < m && n > 9; ++i) {
    a(i, 8) = std::as_const(a)(i, 0);                                  // depends on another column
    a(i, 9) = i == 0 ? T(3) : T(0);                                    // is reflected nowhere
    if (n > 40) a(i, 40) = i < 40 ? std::as_const(a)(i, 40) : T(-0.0); // nearly so
    if constexpr (is_complex<T>) {
      a(i, 1) = a(i, 1).real();
      if (i > 0) a(i, 2) = a(i, 2).real();
      a(i, 3) = i == 0 ? T(2, -1) : T(0); // is turned, and not reflected
    }
  }
  return a;
}

template <class Error, class Step>
void must_throw(Step&& step, const std::string& said) {
  BOOST_CHECK_EXCEPTION(step(), Error, [&](const Error& error) {
    BOOST_TEST_MESSAGE(error.what());
    return std::string(error.what()).find(said) != std::string::npos;
  });
}

} // namespace

BOOST_AUTO_TEST_SUITE(qr_bits)

BOOST_AUTO_TEST_CASE_TEMPLATE(of_every_shape, T, Systems) {
  std::vector<std::pair<Index, Index>> all{{1, 1},   {2, 1},   {1, 2},   {8, 8},  {9, 9},
                                           {31, 32}, {32, 32}, {33, 33}, {65, 64}};
  for (const auto& shape : shapes(conformance::options().quick ? 5 : 30, 300)) all.push_back(shape);
  for (const auto& [m, n] : all) BOOST_TEST_CONTEXT(m << "×" << n) {
      const Matrix<T> a = Matrix<T>::random(m, n, Seed{1});
      same_factors(a, tested());
      same_products(a, n % 50 + 1);
      same_by_columns(a);
    }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(of_several_segments, T, Systems) {
  if (conformance::options().quick) return;
  for (const auto& [m, n] :
       {std::pair<Index, Index>{1024, 40}, {1025, 33}, {1056, 70}, {3100, 45}, {1100, 300}, {40, 2100}, {9000, 9}})
    BOOST_TEST_CONTEXT(m << "×" << n) {
      const Matrix<T> a = Matrix<T>::random(m, n, Seed{3});
      same_factors(a, tested());
      same_products(a, 3);
    }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(of_hard_data, T, Systems) {
  for (const auto& [m, n] : {std::pair<Index, Index>{50, 20}, {120, 100}, {60, 150}, {1200, 42}})
    BOOST_TEST_CONTEXT(m << "×" << n) {
      same_factors(hard_columns<T>(m, n), tested());
      using P = Part<T>;
      same_factors(Matrix<T>::random(m, n, Seed{7}, Distribution::Special, P(0.0001), P(0.05)), tested());
      same_factors(Matrix<T>::random(m, n, Seed{8}, Distribution::Wide, P(-30), P(30)), tested());
      same_factors(Matrix<T>::random(m, n, Seed{9}, Distribution::Integers, P(-1), P(1)), tested());
      for (const P value : {std::numeric_limits<P>::infinity(), std::numeric_limits<P>::quiet_NaN()}) {
        Matrix<T> a = Matrix<T>::random(m, n, Seed{10});
        a(m / 2, n / 2) = value;
        same_factors(a, tested());
        same_products(a, 5);
      }
    }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(with_any_threads, T, Systems) {
  const Matrix<T> a = Matrix<T>::random(conformance::options().quick ? 150 : 700, 130, Seed{11});
  const Qr expected(a, tested(1));
  for (const int threads : {2, 3, 5}) BOOST_TEST_CONTEXT(threads) {
      const Qr qr(a, tested(threads));
      BOOST_TEST(differing(qr.packed(), expected.packed()) == 0);
      BOOST_TEST(differing(qr.q(), expected.q()) == 0);
    }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(of_least_squares, T, Systems) {
  for (const auto& [m, n] : {std::pair<Index, Index>{1, 1}, {5, 5}, {70, 40}, {40, 70}, {200, 200}, {300, 3}})
    BOOST_TEST_CONTEXT(m << "×" << n) {
      const Matrix<T> a = Matrix<T>::random(m, n, Seed{12}), b = Matrix<T>::random(m, 4, Seed{13});
      const Matrix<T> x = least_squares(a, b, tested());
      BOOST_TEST(differing(x, least_squares(a, b, formulas)) == 0);
      const Matrix<T> turned(a.transposed()), right(b.transposed());
      BOOST_TEST(differing(x, least_squares(turned.transposed(), right.transposed(), tested())) == 0);
      BOOST_TEST(differing(a, Matrix<T>::random(m, n, Seed{12})) == 0);
    }
  const Matrix<T> large = Matrix<T>::random(300, 300, Seed{14});
  const auto part = large.block(7, 9, 120, 33);
  BOOST_TEST(differing(Qr(part, tested()).packed(), Qr(Matrix<T>(part), formulas).packed()) == 0);
}

/// Returns 2^exponent·a for a matrix of few digits, whose multiples are exact down to subnormal ones.
template <class T>
Matrix<T> few_digits(Index m, Index n, Seed seed, int exponent) {
  using P = Part<T>;
  const auto cut = [&](P x) { return std::ldexp(std::trunc(x * 1024) / 1024, exponent); };
  Matrix<T> a = Matrix<T>::random(m, n, seed);
  for (Index i = 0; i < m; ++i)
    for (T& x : a.row(i))
      if constexpr (is_complex<T>)
        x = {cut(x.real()), cut(x.imag())};
      else
        x = cut(x);
  return a;
}

/// Powers of two, by which A and B are multiplied, multiply X, up to the ends of the range.
BOOST_AUTO_TEST_CASE_TEMPLATE(of_least_squares_near_the_ends_of_the_range, T, Systems) {
  using Limits = std::numeric_limits<Part<T>>;
  constexpr int most = Limits::max_exponent, least = Limits::min_exponent - Limits::digits + 10;
  for (const auto& [m, n] : {std::pair<Index, Index>{1, 1}, {60, 40}, {40, 60}})
    for (const auto& [of_a, of_b] : {std::pair<int, int>{most, most},
                                     {most, 0},
                                     {0, most - 20},
                                     {least, least},
                                     {least, 20},
                                     {0, least},
                                     {most - 30, most},
                                     {least, least + 30}})
      BOOST_TEST_CONTEXT(m << "×" << n << ", 2^" << of_a << " and 2^" << of_b) {
        const Matrix<T> x = least_squares(few_digits<T>(m, n, Seed{16}, 0), few_digits<T>(m, 2, Seed{17}, 0), tested());
        Matrix<T> expected(x.view());
        for (Index i = 0; i < n; ++i)
          for (T& number : expected.row(i)) { // a rounding at the end, as of X
            auto* const parts = reinterpret_cast<Part<T>*>(&number);
            for (std::size_t p = 0; p < sizeof(T) / sizeof(Part<T>); ++p) parts[p] = std::ldexp(parts[p], of_b - of_a);
          }
        const Matrix<T> a = few_digits<T>(m, n, Seed{16}, of_a), b = few_digits<T>(m, 2, Seed{17}, of_b);
        BOOST_TEST(differing(least_squares(a, b, tested()), expected) == 0);
        BOOST_TEST(differing(least_squares(a, b, formulas), expected) == 0);
      }
  // Numbers that are not finite set no scale.
  Matrix<T> a = few_digits<T>(4, 2, Seed{18}, most);
  a(1, 1) = Limits::quiet_NaN();
  const Matrix<T> x = least_squares(a, Matrix<T>(4, 1, T(1)), tested());
  BOOST_TEST(std::isnan(std::real(x(1, 0))));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(qr_errors)

BOOST_AUTO_TEST_CASE(shapes_that_do_not_fit) {
  const Matrix<double> wide(3, 5, 1.0), tall(5, 3, 1.0), four(4, 2, 1.0);
  must_throw<InvalidArgument>([&] { least_squares(tall, four, tested()); },
                              "least_squares: the matrix is 5×3, and the right-hand side has 4 rows; it must have 5");
  must_throw<InvalidArgument>([&] { least_squares(wide, four, tested()); }, "the right-hand side has 4 rows");
  must_throw<InvalidArgument>([&] { Qr(wide, tested()).least_squares(Matrix<double>(3, 1)); },
                              "Qr::least_squares: the matrix is 3×5, and must have at least as many rows as columns");
  must_throw<InvalidArgument>([&] { Qr(wide, tested()).minimum_norm(Matrix<double>(5, 1)); }, "Qr::minimum_norm");
  must_throw<InvalidArgument>(
      [&] { Qr(tall, tested()).minimum_norm(four); },
      "Qr::minimum_norm: the matrix is 5×3, and the right-hand side has 4 rows; it must have 3");
  must_throw<InvalidArgument>([&] { Qr(tall, tested()).multiply_q(four); }, "Qr::multiply_q: the matrix is 5×3");
  must_throw<InvalidArgument>([&] { Qr(tall, tested()).multiply_q_transposed(four); },
                              "Qr::multiply_q_transposed: the matrix is 5×3");
}

BOOST_AUTO_TEST_CASE_TEMPLATE(columns_that_depend_on_each_other, T, Systems) {
  for (const Index n : {1, 6, 70}) BOOST_TEST_CONTEXT(n) {
      Matrix<T> a = Matrix<T>::random(100, n, Seed{15});
      const Index column = n / 2;
      for (Index i = 0; i < 100; ++i) a(i, column) = 0;
      const Matrix<T> b(100, 1, T(1)), before(a.view()), right(n, 1, T(1));
      try {
        least_squares(a, b, tested());
        BOOST_ERROR("a column of zeros depends on any other");
      } catch (const RankDeficient& error) {
        BOOST_TEST(error.column() == column);
        BOOST_CHECK(error.code() == StatusCode::InvalidArgument);
        BOOST_TEST(std::string(error.what()).find("element " + std::to_string(column) + " of R's diagonal") !=
                   std::string::npos);
      }
      BOOST_CHECK_THROW(least_squares(std::as_const(a).transposed(), right, tested()), RankDeficient);
      BOOST_TEST(differing(a, before) == 0);
    }
}

BOOST_AUTO_TEST_CASE(nothing_to_factor) {
  const Matrix<double> none, no_columns(5, 0), no_rows(0, 5);
  BOOST_TEST(Qr(none, tested()).r().empty());
  BOOST_TEST(Qr(no_columns, tested()).q().rows() == 5);
  BOOST_TEST(Qr(no_columns, tested()).q().cols() == 0);
  BOOST_TEST(Qr(no_rows, tested()).r().cols() == 5);
  const Matrix<double> b(5, 2, 1.0);
  BOOST_TEST(differing(Qr(no_columns, tested()).multiply_q(b), b) == 0);
  BOOST_TEST(least_squares(no_columns, b, tested()).rows() == 0);
  BOOST_TEST(differing(least_squares(no_rows, Matrix<double>(0, 2), tested()), Matrix<double>(5, 2)) == 0);
  BOOST_TEST(least_squares(b, Matrix<double>(5, 0), tested()).cols() == 0);
}

BOOST_AUTO_TEST_CASE(of_an_absent_backend) {
  for (const BackendInfo& info : available_backends())
    if (!info.available)
      BOOST_CHECK_THROW(Qr(dominant<double>(100, Seed{16}), {.backend = info.backend}), BackendUnavailable);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::test
