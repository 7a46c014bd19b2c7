/// LAPACK's QR factorisation and least squares in the drop-in: results have the bits of the C++ interface, memory
/// outside them stays as it was, and info, the handler and the length of work are LAPACK's. Exit status: failed checks.

#include <cmath>

#include <tessera/linear_algebra/qr.hpp>

#include "systems.hpp"

#define TESSERA_DECLARE(T, s, q)                                                                                   \
  void NAME(s##geqrf_)(const blas_int*, const blas_int*, T*, const blas_int*, T*, T*, const blas_int*, blas_int*); \
  void NAME(s##geqr2_)(const blas_int*, const blas_int*, T*, const blas_int*, T*, T*, blas_int*);                  \
  void NAME(s##q##gqr_)(const blas_int*, const blas_int*, const blas_int*, T*, const blas_int*, const T*, T*,      \
                        const blas_int*, blas_int*);                                                               \
  void NAME(s##q##g2r_)(const blas_int*, const blas_int*, const blas_int*, T*, const blas_int*, const T*, T*,      \
                        blas_int*);                                                                                \
  void NAME(s##q##mqr_)(const char*, const char*, const blas_int*, const blas_int*, const blas_int*, const T*,     \
                        const blas_int*, const T*, T*, const blas_int*, T*, const blas_int*, blas_int*);           \
  void NAME(s##q##m2r_)(const char*, const char*, const blas_int*, const blas_int*, const blas_int*, const T*,     \
                        const blas_int*, const T*, T*, const blas_int*, T*, blas_int*);                            \
  void NAME(s##gels_)(const char*, const blas_int*, const blas_int*, const blas_int*, T*, const blas_int*, T*,     \
                      const blas_int*, T*, const blas_int*, blas_int*);
extern "C" {
TESSERA_DECLARE(float, s, or)
TESSERA_DECLARE(double, d, or)
TESSERA_DECLARE(std::complex<float>, c, un)
TESSERA_DECLARE(std::complex<double>, z, un)
}

namespace tessera::test {
namespace {

/// The routines of a type.
template <class T>
struct Lapack;
#define TESSERA_ROUTINES(T, s, q)                    \
  template <>                                        \
  struct Lapack<T> {                                 \
    static constexpr auto geqrf = &NAME(s##geqrf_);  \
    static constexpr auto geqr2 = &NAME(s##geqr2_);  \
    static constexpr auto orgqr = &NAME(s##q##gqr_); \
    static constexpr auto org2r = &NAME(s##q##g2r_); \
    static constexpr auto ormqr = &NAME(s##q##mqr_); \
    static constexpr auto orm2r = &NAME(s##q##m2r_); \
    static constexpr auto gels = &NAME(s##gels_);    \
  };
TESSERA_ROUTINES(float, s, or)
TESSERA_ROUTINES(double, d, or)
TESSERA_ROUTINES(std::complex<float>, c, un)
TESSERA_ROUTINES(std::complex<double>, z, un)

/// The letters of the transpose that a routine knows, and of the one that it does not know.
template <class T>
constexpr const char* turned_letter = is_complex<T> ? "C" : "T";
template <class T>
constexpr const char* wrong_letter = is_complex<T> ? "T" : "C";

const blas_int query = -1;

/// Memory for `work`, of the length for which a query asked.
template <class T>
class Work {
 public:
  explicit Work(T asked, Index least)
      : length_(static_cast<blas_int>(std::real(asked))),
        values_(static_cast<std::size_t>(std::max<Index>(1, length_))) {
    must_equal("a query's answer is enough", length_ >= least, 1);
  }
  T* data() { return values_.data(); }
  const blas_int* length() const { return &length_; }

 private:
  blas_int length_;
  std::vector<T> values_;
};

template <class T>
void must_equal_tau(const std::vector<T>& got, std::span<const T> expected) {
  for (std::size_t j = 0; j < expected.size(); ++j) must_equal("tau", same_bits(got[j], expected[j]), 1);
  must_equal("what follows tau", got.back() == untouched_number<T>(), 1);
}

template <class T>
std::vector<T> factors(const Matrix<T>& a, const Qr<T>& expected, Columns<T>& matrix) {
  const auto m = static_cast<blas_int>(a.rows()), n = static_cast<blas_int>(a.cols());
  std::vector<T> tau(expected.tau().size() + 1, untouched_number<T>()), again(tau);
  blas_int info = 77;
  T asked = 0;
  Lapack<T>::geqrf(&m, &n, matrix.data(), matrix.ld(), tau.data(), &asked, &query, &info);
  must_equal("a query's info", info, 0);
  must_be("a query changes nothing", matrix, a);
  Work<T> work(asked, n);
  Lapack<T>::geqrf(&m, &n, matrix.data(), matrix.ld(), tau.data(), work.data(), work.length(), &info);
  must_equal("geqrf's info", info, 0);
  must_be("geqrf", matrix, expected.packed());
  must_equal_tau(tau, expected.tau());
  Columns<T> unblocked(a);
  Lapack<T>::geqr2(&m, &n, unblocked.data(), unblocked.ld(), again.data(), work.data(), &info);
  must_equal("geqr2's info", info, 0);
  must_be("geqr2", unblocked, expected.packed());
  must_equal_tau(again, expected.tau());
  return tau;
}

/// The first n columns of Q, of k reflections.
template <class T>
void columns_of_q(const Qr<T>& qr, const std::vector<T>& tau) {
  const Index m = qr.packed().rows(), n = static_cast<Index>(qr.tau().size());
  for (const Index k : {n, n / 2, Index{0}}) {
    Matrix<T> unit(m, n);
    for (Index j = 0; j < n; ++j) unit(j, j) = 1;
    const Matrix<T> thin(qr.packed().block(0, 0, m, n));
    Matrix<T> expected(thin.view());
    detail::form_q(detail::number_type_of<T>, Op::None, m, n, k, expected.data(), expected.ld(), tau.data(), {});
    if (k == n) must_be_same("Q", expected, qr.q());
    const auto rows = static_cast<blas_int>(m), cols = static_cast<blas_int>(n), count = static_cast<blas_int>(k);
    Columns<T> q(thin), unblocked(thin);
    blas_int info = 77;
    T asked = 0;
    Lapack<T>::orgqr(&rows, &cols, &count, q.data(), q.ld(), tau.data(), &asked, &query, &info);
    must_be("a query changes nothing", q, thin);
    Work<T> work(asked, n);
    Lapack<T>::orgqr(&rows, &cols, &count, q.data(), q.ld(), tau.data(), work.data(), work.length(), &info);
    must_equal("orgqr's info", info, 0);
    must_be("orgqr", q, expected);
    Lapack<T>::org2r(&rows, &cols, &count, unblocked.data(), unblocked.ld(), tau.data(), work.data(), &info);
    must_be("org2r", unblocked, expected);
  }
}

/// Q and Qᴴ, from the left and from the right.
template <class T>
void products_with_q(const Qr<T>& qr, Columns<T>& matrix, const std::vector<T>& tau, Index count) {
  const Index m = qr.packed().rows();
  const Matrix<T> b = Matrix<T>::random(m, count, Seed{2});
  for (const bool left : {true, false})
    for (const char* const op : {"N", is_complex<T> ? "c" : "t"}) {
      const bool straight = *op == 'N';
      const Matrix<T> c = left ? b : conjugate_transpose(b);
      const Matrix<T> product = straight == left ? qr.multiply_q(b) : qr.multiply_q_transposed(b);
      const Matrix<T> expected = left ? product : conjugate_transpose(product);
      const auto rows = static_cast<blas_int>(c.rows()), cols = static_cast<blas_int>(c.cols()),
                 k = static_cast<blas_int>(qr.tau().size());
      Columns<T> result(c), unblocked(c);
      blas_int info = 77;
      T asked = 0;
      Lapack<T>::ormqr(left ? "l" : "R", op, &rows, &cols, &k, matrix.data(), matrix.ld(), tau.data(), result.data(),
                       result.ld(), &asked, &query, &info);
      must_be("a query changes nothing", result, c);
      Work<T> work(asked, left ? cols : rows);
      Lapack<T>::ormqr(left ? "l" : "R", op, &rows, &cols, &k, matrix.data(), matrix.ld(), tau.data(), result.data(),
                       result.ld(), work.data(), work.length(), &info);
      must_equal("ormqr's info", info, 0);
      must_be("ormqr", result, expected);
      Lapack<T>::orm2r(left ? "L" : "r", op, &rows, &cols, &k, matrix.data(), matrix.ld(), tau.data(), unblocked.data(),
                       unblocked.ld(), work.data(), &info);
      must_be("orm2r", unblocked, expected);
    }
}

/// Returns what gels does with the factors of A, or of its conjugate transpose where A is wide: its triangular systems
/// are column-major.
template <class T>
Matrix<T> solve_by_factors(const Qr<T>& qr, bool is_tall, bool has_more_equations, const Matrix<T>& b) {
  const Index k = static_cast<Index>(qr.tau().size()), m = qr.packed().rows();
  const Matrix<T> r(qr.packed().block(0, 0, k, k)), memory = is_tall ? r : conjugate_transpose(r);
  const auto solve = [&](Op op, const Matrix<T>& right) {
    return solve_by_columns(is_tall ? Triangle::Upper : Triangle::Lower, op, Diagonal::Stored, memory, right);
  };
  if (has_more_equations)
    return solve(is_tall ? Op::None : Op::ConjugateTranspose,
                 Matrix<T>(std::as_const(qr).multiply_q_transposed(b).block(0, 0, k, b.cols())));
  const Matrix<T> y = solve(is_tall ? Op::ConjugateTranspose : Op::None, b);
  Matrix<T> padded(m, b.cols());
  for (Index i = 0; i < k; ++i)
    for (Index j = 0; j < b.cols(); ++j) padded(i, j) = y(i, j);
  return qr.multiply_q(padded);
}

/// All four kinds of systems; rows of B beyond the solution hold what LAPACK's do or anything.
template <class T>
void least_squares_of(Index m, Index n, Index count) {
  const Matrix<T> a = Matrix<T>::random(m, n, Seed{3});
  for (const char* const op : {"N", turned_letter<T>}) {
    const bool straight = *op == 'N';
    const Index equations = straight ? m : n, unknowns = straight ? n : m;
    const Matrix<T> b = Matrix<T>::random(equations, count, Seed{4});
    const Qr<T> qr = m >= n ? Qr<T>(a) : Qr<T>(conjugate_transpose(a)); // a square matrix is factored as it is
    const Matrix<T> x = solve_by_factors(qr, m >= n, (m >= n) == straight, b);
    if constexpr (!is_complex<T>)
      must_be_same("solutions by columns", x, (m >= n) == straight ? qr.least_squares(b) : qr.minimum_norm(b));
    Matrix<T> memory(std::max(m, n), count);
    for (Index i = 0; i < equations; ++i)
      for (Index j = 0; j < count; ++j) memory(i, j) = b(i, j);
    Columns<T> matrix(a), right(memory);
    const auto rows = static_cast<blas_int>(m), cols = static_cast<blas_int>(n), sides = static_cast<blas_int>(count);
    blas_int info = 77;
    T asked = 0;
    Lapack<T>::gels(op, &rows, &cols, &sides, matrix.data(), matrix.ld(), right.data(), right.ld(), &asked, &query,
                    &info);
    must_be("a query changes nothing", right, memory);
    Work<T> work(asked, std::min(m, n) + std::max(std::min(m, n), count));
    Lapack<T>::gels(op, &rows, &cols, &sides, matrix.data(), matrix.ld(), right.data(), right.ld(), work.data(),
                    work.length(), &info);
    must_equal("gels' info", info, 0);
    must_be("gels' factors", matrix, m >= n ? qr.packed() : conjugate_transpose(qr.packed()));
    for (Index i = unknowns; i < std::max(m, n); ++i)
      for (Index j = 0; j < count; ++j) right.at(i, j) = memory(i, j) = T(0);
    for (Index i = 0; i < unknowns; ++i)
      for (Index j = 0; j < count; ++j) memory(i, j) = x(i, j);
    must_be("gels", right, memory);
  }
}

/// A column of zeros, and a matrix of zeros, whose solution LAPACK calls 0.
template <class T>
void without_a_single_solution() {
  Matrix<T> a = Matrix<T>::random(6, 4, Seed{5});
  for (Index i = 0; i < 6; ++i) a(i, 2) = 0;
  const blas_int six = 6, four = 4, one = 1, length = 64;
  T work[64];
  for (const bool wide : {false, true}) {
    Columns<T> matrix(wide ? conjugate_transpose(a) : a), right(Matrix<T>(6, 1, T(1)));
    blas_int info = 77;
    Lapack<T>::gels("N", wide ? &four : &six, wide ? &six : &four, &one, matrix.data(), matrix.ld(), right.data(),
                    right.ld(), work, &length, &info);
    must_equal("gels' info of a column of zeros", info, 3);
    Columns<T> zeros(Matrix<T>(6, 4)), b(Matrix<T>(6, 1, T(1)));
    Lapack<T>::gels(turned_letter<T>, &six, &four, &one, zeros.data(), zeros.ld(), b.data(), b.ld(), work, &length,
                    &info);
    must_equal("gels' info of zeros", info, 0);
    must_be("gels of zeros", b, Matrix<T>(6, 1));
  }
}

template <class T>
void wrong_arguments(char type) {
  T a[64] = {}, b[64] = {}, tau[8] = {}, work[64] = {};
  blas_int info = 77;
  const blas_int good = 4, bad = -1, small = 3, five = 5, length = 64;
  const auto refused = [&](const char* name, int expected) {
    char full[8];
    const bool is_of_q = is_complex<T> && name[0] == 'O' && name[1] == 'R'; // UNGQR for ORGQR
    std::snprintf(full, sizeof full, "%c%s%s", type, is_of_q ? "UN" : "", is_of_q ? name + 2 : name);
    must_refuse_lapack(full, expected, info);
  };
  TESSERA_REFUSED(1, geqrf, "GEQRF", &bad, &good, a, &good, tau, work, &length);
  TESSERA_REFUSED(2, geqrf, "GEQRF", &good, &bad, a, &good, tau, work, &length);
  TESSERA_REFUSED(4, geqrf, "GEQRF", &good, &good, a, &small, tau, work, &length);
  TESSERA_REFUSED(7, geqrf, "GEQRF", &good, &good, a, &good, tau, work, &small);
  TESSERA_REFUSED(1, geqr2, "GEQR2", &bad, &good, a, &good, tau, work);
  TESSERA_REFUSED(4, geqr2, "GEQR2", &good, &good, a, &small, tau, work);
  TESSERA_REFUSED(1, orgqr, "ORGQR", &bad, &good, &good, a, &good, tau, work, &length);
  TESSERA_REFUSED(2, orgqr, "ORGQR", &good, &five, &good, a, &good, tau, work, &length);
  TESSERA_REFUSED(3, orgqr, "ORGQR", &good, &good, &five, a, &good, tau, work, &length);
  TESSERA_REFUSED(5, orgqr, "ORGQR", &good, &good, &good, a, &small, tau, work, &length);
  TESSERA_REFUSED(8, orgqr, "ORGQR", &good, &good, &good, a, &good, tau, work, &small);
  TESSERA_REFUSED(2, org2r, "ORG2R", &good, &bad, &good, a, &good, tau, work);
  TESSERA_REFUSED(3, org2r, "ORG2R", &good, &good, &bad, a, &good, tau, work);
  TESSERA_REFUSED(1, ormqr, "ORMQR", "X", "N", &good, &good, &good, a, &good, tau, b, &good, work, &length);
  TESSERA_REFUSED(2, ormqr, "ORMQR", "L", wrong_letter<T>, &good, &good, &good, a, &good, tau, b, &good, work, &length);
  TESSERA_REFUSED(3, ormqr, "ORMQR", "L", "N", &bad, &good, &good, a, &good, tau, b, &good, work, &length);
  TESSERA_REFUSED(4, ormqr, "ORMQR", "L", "N", &good, &bad, &good, a, &good, tau, b, &good, work, &length);
  TESSERA_REFUSED(5, ormqr, "ORMQR", "R", "N", &five, &good, &five, a, &five, tau, b, &five, work, &length);
  TESSERA_REFUSED(7, ormqr, "ORMQR", "L", "N", &good, &good, &good, a, &small, tau, b, &good, work, &length);
  TESSERA_REFUSED(10, ormqr, "ORMQR", "L", "N", &good, &good, &good, a, &good, tau, b, &small, work, &length);
  TESSERA_REFUSED(12, ormqr, "ORMQR", "L", turned_letter<T>, &good, &good, &good, a, &good, tau, b, &good, work,
                  &small);
  TESSERA_REFUSED(5, orm2r, "ORM2R", "L", "N", &good, &good, &five, a, &good, tau, b, &good, work);
  TESSERA_REFUSED(1, gels, "GELS ", wrong_letter<T>, &good, &good, &good, a, &good, b, &good, work, &length);
  TESSERA_REFUSED(2, gels, "GELS ", "N", &bad, &good, &good, a, &good, b, &good, work, &length);
  TESSERA_REFUSED(3, gels, "GELS ", "N", &good, &bad, &good, a, &good, b, &good, work, &length);
  TESSERA_REFUSED(4, gels, "GELS ", "N", &good, &good, &bad, a, &good, b, &good, work, &length);
  TESSERA_REFUSED(6, gels, "GELS ", "N", &good, &good, &good, a, &small, b, &good, work, &length);
  TESSERA_REFUSED(8, gels, "GELS ", turned_letter<T>, &good, &five, &good, a, &good, b, &good, work, &length);
  TESSERA_REFUSED(10, gels, "GELS ", turned_letter<T>, &good, &good, &good, a, &good, b, &good, work, &good);
}

template <class T>
void nothing_to_do() {
  T number = untouched_number<T>(), work[2] = {}, b[2] = {T(1), T(1)};
  const blas_int none = 0, one = 1, two = 2;
  blas_int info = 77;
  Lapack<T>::geqrf(&none, &one, &number, &one, &number, work, &one, &info);
  must_equal("geqrf of nothing", info, 0);
  Lapack<T>::orgqr(&one, &none, &none, &number, &one, &number, work, &one, &info);
  must_equal("orgqr of nothing", info, 0);
  Lapack<T>::ormqr("L", "N", &one, &one, &none, &number, &one, &number, &number, &one, work, &one, &info);
  must_equal("ormqr of nothing", info, 0);
  Lapack<T>::gels("N", &none, &two, &one, &number, &one, b, &two, work, &two, &info);
  must_equal("gels of nothing", info, 0);
  must_equal("untouched by nothing", number == untouched_number<T>() && b[0] == T(0) && b[1] == T(0), 1);
}

/// Some lengths are no float. A query's answer is not below them, because the routine would refuse it.
template <class T>
void lengths_beyond_float() {
  const blas_int one = 1, length = (1 << 24) + 1, sides = length + 1;
  T number = 0, asked = 0;
  blas_int info = 1;
  const auto must_be_enough = [&](const char* what, Index least) {
    must_equal(what, info, 0);
    must_equal(what, static_cast<Index>(std::real(asked)) >= least, 1);
  };
  Lapack<T>::geqrf(&one, &length, &number, &one, &number, &asked, &query, &info);
  must_be_enough("geqrf's answer", length);
  Lapack<T>::ormqr("L", "N", &one, &length, &one, &number, &one, &number, &number, &one, &asked, &query, &info);
  must_be_enough("ormqr's answer", length);
  Lapack<T>::gels("N", &one, &one, &sides, &number, &one, &number, &one, &asked, &query, &info);
  must_be_enough("gels's answer", Index{sides} + 1);
}

/// Rows of C that no reflection changes may lie outside of its memory: the last rows of all reflections are 0, or a
/// last tau is.
template <class T>
void rows_that_stay() {
  const T nan(std::numeric_limits<Part<T>>::quiet_NaN()); // would spread to other elements, if it were read
  const auto is_nan = [](const T& x) { return std::isnan(std::real(x)); };
  const blas_int rows = 40, all = 70, count = 8, more = 10, cols = 5, length = 4096;
  const auto random = Matrix<T>::random(rows, count, Seed{5});
  std::vector<T> small(rows * count), large(all * more), tau(more), work(length), c(rows * cols);
  for (Index j = 0; j < count; ++j)
    for (Index i = 0; i < rows; ++i) small[j * rows + i] = random(i, j);
  blas_int info = 77;
  Lapack<T>::geqrf(&rows, &count, small.data(), &rows, tau.data(), work.data(), &length, &info);
  for (Index j = 0; j < count; ++j)
    for (Index i = 0; i < rows; ++i) large[j * all + i] = small[j * rows + i];
  for (Index j = count; j < more; ++j)
    for (Index i = 0; i < all; ++i) large[j * all + i] = T(3); // its tau is 0
  const auto numbers = Matrix<T>::random(rows, cols, Seed{6});
  for (Index j = 0; j < cols; ++j)
    for (Index i = 0; i < rows; ++i) c[j * rows + i] = numbers(i, j);
  // From the left C has rows that must stay, and from the right columns that it has no memory for.
  std::vector<T> expected = c, tall(all * cols, nan), wide(c);
  Lapack<T>::ormqr("L", "N", &rows, &cols, &count, small.data(), &rows, tau.data(), expected.data(), &rows, work.data(),
                   &length, &info);
  for (Index j = 0; j < cols; ++j)
    for (Index i = 0; i < rows; ++i) tall[j * all + i] = c[j * rows + i];
  Lapack<T>::ormqr("L", "N", &all, &cols, &more, large.data(), &all, tau.data(), tall.data(), &all, work.data(),
                   &length, &info);
  for (Index j = 0; j < cols; ++j)
    for (Index i = 0; i < all; ++i)
      must_equal("a row of ormqr from the left",
                 i < rows ? tall[j * all + i] == expected[j * rows + i] : is_nan(tall[j * all + i]), 1);
  expected = c; // as a matrix of 5 rows and 40 columns
  Lapack<T>::ormqr("R", "N", &cols, &rows, &count, small.data(), &rows, tau.data(), expected.data(), &cols, work.data(),
                   &length, &info);
  wide.resize(cols * all, nan);
  Lapack<T>::orm2r("R", "N", &cols, &all, &more, large.data(), &all, tau.data(), wide.data(), &cols, work.data(),
                   &info);
  for (Index i = 0; i < cols * all; ++i)
    must_equal("a column of orm2r from the right", i < rows * cols ? wide[i] == expected[i] : is_nan(wide[i]), 1);
}

template <class T>
void check(char type) {
  for (const auto& [m, n] : {std::pair<Index, Index>{1, 1},
                             {9, 1},
                             {1, 9},
                             {5, 5},
                             {33, 32},
                             {70, 150},
                             {150, 70},
                             {200, 200},
                             {1100, 40}}) {
    const Matrix<T> a = Matrix<T>::random(m, n, Seed{1});
    const Qr<T> qr(a);
    Columns<T> matrix(a);
    const std::vector<T> tau = factors(a, qr, matrix);
    columns_of_q(qr, tau);
    products_with_q(qr, matrix, tau, n % 7 + 1);
    least_squares_of<T>(m, n, n % 5 + 1);
  }
  without_a_single_solution<T>();
  lengths_beyond_float<T>();
  must_equal("calls that were refused", position, 0);
  nothing_to_do<T>();
  rows_that_stay<T>();
  wrong_arguments<T>(type);
}

} // namespace
} // namespace tessera::test

int main() {
  tessera::test::check<float>('S');
  tessera::test::check<double>('D');
  tessera::test::check<std::complex<float>>('C');
  tessera::test::check<std::complex<double>>('Z');
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
