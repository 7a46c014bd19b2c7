/// Tests certificates: right products of all kinds pass, wrong ones are found with their places, and bad arguments are
/// refused.

#include <tessera/checking/check.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include <tessera/gemm.hpp>
#include <tessera/half.hpp>
#include <tessera/random.hpp>
#include <tessera/status.hpp>

#include "support/expect.hpp"

using namespace tessera;
using namespace tessera::test;

namespace {

constexpr GemmOptions on_reference{.backend = Backend::Reference};

/// Operands of one product of T with results of R, and the result.
template <class T, class R = T>
struct Problem {
  Matrix<T> a, b;
  Matrix<R> before, c;
  Scalar<T> alpha = 1, beta = 0;

  Problem(Index m, Index n, Index k, Scalar<T> x = 1, Scalar<T> y = 0)
      : a(Matrix<T>::random(m, k, Seed{1})),
        b(Matrix<T>::random(k, n, Seed{2})),
        before(Matrix<R>::random(m, n, Seed{3})),
        c(before),
        alpha(x),
        beta(y) {
    gemm(alpha, a, b, beta, c, on_reference);
  }
  CheckedProduct operands() const { return {checked(a), checked(b), checked(before)}; }
  CheckOptions options() const { return {.alpha = alpha, .beta = beta}; }
  Certificate answer(CheckOptions options) const {
    options.alpha = alpha;
    options.beta = beta;
    return check(operands(), checked(c), options);
  }
};

bool has(const Certificate& answer, Diagnosis diagnosis) {
  return std::any_of(answer.findings.begin(), answer.findings.end(),
                     [&](const Finding& finding) { return finding.diagnosis == diagnosis; });
}

} // namespace

BOOST_AUTO_TEST_SUITE(certificates)

using Types = std::tuple<float, double, f16, bf16>;

BOOST_AUTO_TEST_CASE_TEMPLATE(right_products_are_right, T, Types) {
  for (const auto& [m, n, k] : {std::array<Index, 3>{1, 1, 1}, {5, 7, 3}, {33, 65, 1100}, {70, 40, 20}})
    for (const auto& [alpha, beta] : {std::pair{1.0f, 0.0f}, {0.5f, -2.0f}, {0.0f, 1.0f}}) {
      const Problem<T> problem(m, n, k, alpha, beta);
      for (const CheckOptions& options : {CheckOptions{}, CheckOptions{.rows = 2, .vectors = 32}}) {
        const Certificate answer = problem.answer(options);
        BOOST_TEST(answer.right(), to_text(answer));
        BOOST_TEST(answer.rows == m);
        BOOST_TEST(answer.rows_compared == (options.rows == 0 ? m : std::min<Index>(m, 2)));
        BOOST_TEST(answer.vectors == (options.rows == 0 ? 0 : 32));
        BOOST_TEST(answer.rows_judged == (options.rows == 0 ? 0 : m));
        BOOST_TEST(answer.error.max_over_bound <= 1);
        BOOST_TEST(answer.findings.empty());
      }
    }
}

BOOST_AUTO_TEST_CASE(narrow_results_and_views_are_right) {
  const Problem<float, bf16> to_bf16(20, 30, 40, 1.5f, 0.5f);
  BOOST_TEST(to_bf16.answer({}).right());
  const Problem<f16, float> to_f32(20, 30, 40);
  BOOST_TEST(to_f32.answer({.rows = 3, .vectors = 16}).right());
  const Matrix<float> a = Matrix<float>::random(30, 20, Seed{1}), b = Matrix<float>::random(25, 50, Seed{2});
  const Matrix<float> c = gemm(a.transposed(), b.block(0, 3, 25, 30).transposed().block(0, 0, 30, 25), on_reference);
  BOOST_TEST(check(a.transposed(), b.block(0, 3, 25, 30).transposed().block(0, 0, 30, 25), c).right());
}

BOOST_AUTO_TEST_CASE_TEMPLATE(one_wrong_element_is_named, T, Types) {
  Problem<T> problem(60, 50, 40);
  const Certifier certifier({problem.operands()}, static_cast<CheckedType>(dtype_of<T>), {.rows = 2, .vectors = 16});
  for (const auto& [i, j] : {std::pair<Index, Index>{0, 0}, {59, 49}, {31, 7}}) {
    const T right = problem.c(i, j);
    const double off = 3 * certifier.row_bound(0, i);
    problem.c(i, j) = static_cast<T>(static_cast<Scalar<T>>(static_cast<double>(static_cast<Scalar<T>>(right)) + off));
    const CheckedMatrix c = checked(problem.c);
    const Certificate answer = certifier.check(std::span(&c, 1));
    BOOST_TEST(!answer.right());
    BOOST_TEST_REQUIRE(answer.rows_beyond.size() == 1u);
    BOOST_TEST(answer.rows_beyond[0].row == i);
    BOOST_TEST_REQUIRE(!answer.worst.empty());
    BOOST_TEST(answer.worst[0].element.row == i);
    BOOST_TEST(answer.worst[0].element.col == j);
    BOOST_TEST(answer.worst[0].element.computed == static_cast<double>(static_cast<Scalar<T>>(problem.c(i, j))));
    BOOST_TEST(answer.worst[0].element.over_bound > 1);
    BOOST_TEST(answer.error.beyond == 1);
    problem.c(i, j) = right;
  }
}

/// Long sums are added in short chains; the check then has to be as sound.
BOOST_AUTO_TEST_CASE_TEMPLATE(long_sums_are_judged, T, decltype(std::tuple<float, double>{})) {
  Problem<T> problem(70, 66, 1500);
  const Certifier certifier({problem.operands()}, static_cast<CheckedType>(dtype_of<T>), {.rows = 2, .vectors = 16});
  CheckedMatrix c = checked(problem.c);
  Certificate answer = certifier.check(std::span(&c, 1));
  BOOST_TEST(answer.right(), to_text(answer));
  BOOST_TEST(answer.row_over_bound < 0.1);
  problem.c(65, 65) += static_cast<T>(2.5 * certifier.row_bound(0, 65));
  problem.c(3, 0) = std::numeric_limits<T>::quiet_NaN();
  c = checked(problem.c);
  answer = certifier.check(std::span(&c, 1));
  BOOST_TEST_REQUIRE(answer.rows_beyond.size() == 2u);
  BOOST_TEST(answer.rows_beyond[0].row == 3);
  BOOST_TEST(answer.rows_beyond[1].row == 65);
  BOOST_TEST(std::isinf(answer.rows_beyond[0].over_bound));
  BOOST_TEST(has(answer, Diagnosis::NonFinite));
}

/// Huge and tiny numbers overflow in chains of floats, or lose digits; no right product may be refused for that.
BOOST_AUTO_TEST_CASE_TEMPLATE(numbers_of_all_sizes_are_judged_soundly, T, decltype(std::tuple<float, double>{})) {
  const double largest = static_cast<double>(std::numeric_limits<T>::max());
  const double smallest = static_cast<double>(std::numeric_limits<T>::min());
  for (const auto& [of_a, of_b] : {std::pair{std::sqrt(largest) / 1e3, std::sqrt(largest) / 1e3},
                                   {largest / 4, smallest},
                                   {smallest, largest / 4},
                                   {std::sqrt(smallest), std::sqrt(smallest) / 1e3},
                                   {smallest, 1.0}}) {
    Problem<T> problem(20, 40, 1100);
    problem.a = static_cast<T>(of_a) * problem.a;
    problem.b = static_cast<T>(of_b) * problem.b;
    gemm(T{1}, problem.a, problem.b, T{0}, problem.c, on_reference);
    const Certificate answer = problem.answer({.rows = 2, .vectors = 16});
    BOOST_TEST(answer.right(), to_text(answer));
  }
}

BOOST_AUTO_TEST_CASE(modes_have_their_bounds) {
  Problem<float> problem(30, 30, 30);
  for (Index i = 0; i < 30; ++i)
    for (Index p = 0; p < 30; ++p)
      problem.a(i, p) = static_cast<float>(std::nearbyint(problem.a(i, p) * 0x1p9f) * 0x1p-9f);
  Matrix<float> rounded = problem.a;
  problem = Problem<float>(30, 30, 30);
  gemm(1.0f, rounded, problem.b, 0.0f, problem.c, on_reference);
  const Certificate strict = problem.answer({});
  BOOST_TEST(!strict.right());
  BOOST_TEST(has(strict, Diagnosis::LowPrecision));
  BOOST_TEST(problem.answer({.math = Math::Bf16}).right());
  BOOST_TEST(problem.answer({.math = Math::Bf16, .rows = 2, .vectors = 16}).right());
  for (const Math math :
       {Math::Tf32, Math::Fp16, Math::EmulatedFp16x3, Math::EmulatedBf16x6, Math::ScaledFp16, Math::Strassen})
    BOOST_TEST(Problem<float>(40, 40, 40).answer({.math = math, .rows = 2, .vectors = 16}).right());
  for (const Math math : {Math::Int8Units, Math::Compensated, Math::Strassen})
    BOOST_TEST(Problem<double>(40, 40, 1200).answer({.math = math, .rows = 2, .vectors = 16}).right());
  BOOST_CHECK_THROW(Problem<float>(40, 40, 40).answer({.math = Math::Int8Units}), KernelRejected);
}

BOOST_AUTO_TEST_CASE(epilogues_are_applied) {
  const Matrix<float> bias = Matrix<float>::random(1, 50, Seed{4}), column = Matrix<float>::random(30, 1, Seed{5});
  const Matrix<float> residual = Matrix<float>::random(30, 50, Seed{6});
  for (const Activation activation : {Activation::None, Activation::Relu, Activation::Gelu})
    for (const bool by_row : {false, true})
      for (const bool with_residual : {false, true}) {
        Problem<float> problem(30, 50, 600, 0.25f, 0.5f);
        MatrixEpilogue<float> epilogue{.bias = by_row ? column.view() : bias.view(), .activation = activation};
        if (with_residual) epilogue.residual = residual.view();
        problem.c = problem.before;
        gemm(problem.alpha, problem.a, problem.b, problem.beta, problem.c, epilogue, on_reference);
        CheckedProduct operands = problem.operands();
        operands.bias = checked(by_row ? column : bias);
        if (with_residual) operands.residual = checked(residual);
        CheckOptions options = problem.options();
        options.activation = activation;
        Certificate answer = check(operands, checked(problem.c), options);
        BOOST_TEST(answer.right(), to_text(answer));
        options.rows = 2;
        options.vectors = 16;
        answer = check(operands, checked(problem.c), options);
        BOOST_TEST(answer.right(), to_text(answer));
        BOOST_TEST(answer.rows_judged == (activation == Activation::None ? 30 : answer.rows_judged));
        BOOST_TEST(answer.vectors == (activation == Activation::Gelu ? 0 : 16));
        options.rows = 0;
        problem.c(4, 5) += 0.01f;
        answer = check(operands, checked(problem.c), options);
        BOOST_TEST_REQUIRE(!answer.right());
        BOOST_TEST(answer.worst[0].element.row == 4);
        BOOST_TEST(answer.worst[0].element.col == 5);
      }
}

/// After ReLU a row is covered where no element can have been cut off.
BOOST_AUTO_TEST_CASE(rows_after_relu_are_covered_where_all_is_positive) {
  Problem<float> problem(10, 20, 30);
  problem.a = Matrix<float>(10, 30, 0.5f);
  problem.b = Matrix<float>(30, 20, 0.25f);
  for (Index p = 0; p < 30; ++p) problem.a(7, p) = -1;
  gemm(1.0f, problem.a, problem.b, 0.0f, problem.c, MatrixEpilogue<float>{.activation = Activation::Relu},
       on_reference);
  const CheckOptions options{.activation = Activation::Relu, .rows = 1, .vectors = 16};
  BOOST_TEST(problem.answer(options).right());
  BOOST_TEST(problem.answer(options).rows_judged == 9);
  problem.c(6, 6) += 1;
  const Certificate answer = problem.answer(options);
  BOOST_TEST_REQUIRE(answer.rows_beyond.size() == 1u);
  BOOST_TEST(answer.rows_beyond[0].row == 6);
}

BOOST_AUTO_TEST_CASE(batches_name_the_product) {
  const Problem<float> first(20, 30, 10), second(40, 5, 60, 1);
  Problem<float> third(1, 8, 9);
  std::vector<CheckedProduct> products{first.operands(), second.operands(), third.operands()};
  std::vector<CheckedMatrix> c{checked(first.c), checked(second.c), checked(third.c)};
  BOOST_TEST(check_batch(products, c).right());
  BOOST_TEST(check_batch(products, c).rows == 61);
  BOOST_TEST(check_batch(products, c, {.rows = 6, .vectors = 16}).rows_judged == 61);
  third.c(0, 3) += 1;
  const Certificate answer = check_batch(products, c);
  BOOST_TEST_REQUIRE(!answer.right());
  BOOST_TEST(answer.worst[0].product == 2);
  BOOST_TEST(answer.worst[0].element.col == 3);
  // A strided batch of three products whose matrices lie one after the other.
  const Matrix<double> a = Matrix<double>::random(12, 5, Seed{1}), b = Matrix<double>::random(5, 6, Seed{2});
  const Matrix<double> whole = gemm(a, b, on_reference);
  const CheckedMatrix a0{CheckedType::F64, a.data(), 4, 5, a.ld()},
      c0{CheckedType::F64, whole.data(), 4, 6, whole.ld()};
  products.clear();
  c.clear();
  for (Index p = 0; p < 3; ++p) {
    products.push_back({moved(a0, 4 * a.ld(), p), checked(b)});
    c.push_back(moved(c0, 4 * whole.ld(), p));
  }
  BOOST_TEST(check_batch(products, c).right());
  std::swap(c[0], c[1]);
  BOOST_TEST(!check_batch(products, c).right());
}

BOOST_AUTO_TEST_CASE(nothing_is_right) {
  for (const auto& [m, n, k] : {std::array<Index, 3>{0, 5, 3}, {5, 0, 3}, {5, 4, 0}, {0, 0, 0}}) {
    const Problem<float> problem(m, n, k);
    BOOST_TEST(problem.answer({}).right());
    BOOST_TEST(problem.answer({.rows = 1, .vectors = 16}).right());
  }
  Problem<float> problem(5, 4, 0);
  problem.c(2, 2) = 1; // an empty sum is zero
  BOOST_TEST(!problem.answer({}).right());
  BOOST_TEST(check_batch({}, {}).right());
}

BOOST_AUTO_TEST_CASE(special_values_land_where_they_must) {
  Problem<float> problem(10, 12, 14);
  problem.a(3, 4) = std::numeric_limits<float>::quiet_NaN();
  problem.a(5, 6) = std::numeric_limits<float>::infinity();
  gemm(1.0f, problem.a, problem.b, 0.0f, problem.c, on_reference);
  for (const CheckOptions& options : {CheckOptions{}, CheckOptions{.rows = 3, .vectors = 16}})
    BOOST_TEST(problem.answer(options).right());
  BOOST_TEST(problem.answer({.rows = 3, .vectors = 16}).rows_judged == 8);
  problem.c(3, 0) = 1;
  BOOST_TEST(!problem.answer({}).right());
  BOOST_TEST(has(problem.answer({}), Diagnosis::NonFinite));
}

BOOST_AUTO_TEST_CASE(the_answer_is_the_same_for_any_number_of_threads) {
  Problem<float> problem(80, 70, 600);
  problem.c(40, 3) += 0.5f;
  const std::string one = to_json(problem.answer({.rows = 4, .vectors = 16, .threads = 1}));
  for (const int threads : {2, 3, 7})
    BOOST_TEST(to_json(problem.answer({.rows = 4, .vectors = 16, .threads = threads})) == one);
}

BOOST_AUTO_TEST_CASE(text_and_json_say_what_the_answer_says) {
  Problem<float> problem(20, 30, 40);
  problem.c(7, 8) = std::numeric_limits<float>::infinity();
  const Certificate answer = problem.answer({});
  const std::string text = to_text(answer);
  for (const char* part : {"wrong", "c(7, 8) = inf", "bound", "20 of 20 rows", "non_finite"})
    BOOST_TEST(text.find(part) != std::string::npos, text);
  const nlohmann::json json = nlohmann::json::parse(to_json(answer));
  BOOST_TEST(json.at("schema") == "tessera.certificate/1");
  BOOST_TEST(json.at("verdict") == "wrong");
  BOOST_TEST(json.at("worst").at(0).at("computed") == "inf");
  BOOST_TEST(json.at("worst").at(0).at("row") == 7);
  BOOST_TEST(json.at("elements_beyond") == 1);
  BOOST_TEST(nlohmann::json::parse(to_json(Problem<float>(3, 4, 5).answer({}))).at("verdict") == "right");
}

BOOST_AUTO_TEST_CASE(bad_arguments_are_refused) {
  const Matrix<float> a(4, 5), b(5, 6), c(4, 6);
  const Matrix<double> wide(5, 6);
  const CheckedProduct product{checked(a), checked(b)};
  const auto refuses = [](const CheckedProduct& x, const CheckedMatrix& result, const CheckOptions& options,
                          std::initializer_list<std::string_view> parts) {
    expect_error<InvalidArgument>([&] { check(x, result, options); }, parts);
  };
  refuses({checked(a), checked(a)}, checked(c), {}, {"4×5", "5 ≠ 4"});
  refuses(product, checked(a), {}, {"c is 4×5", "4×6"});
  refuses({checked(a), checked(wide)}, checked(c), {}, {"a holds f32", "b holds f64"});
  refuses(product, checked(wide), {}, {"f32", "c holds f64"});
  refuses(product, checked(c), {.beta = 1}, {"beta = 1", "c_before"});
  refuses({checked(a), checked(b), checked(b)}, checked(c), {}, {"c_before is 5×6", "4×6"});
  refuses({checked(a), checked(b), {}, checked(b)}, checked(c), {}, {"bias is 5×6", "1×6", "4×1"});
  refuses({checked(a), checked(b), {}, {}, checked(b)}, checked(c), {}, {"residual is 5×6", "4×6"});
  refuses({checked(a), checked(b), checked(c)}, checked(c), {}, {"overlaps c_before"});
  refuses(product, checked(c), {.rows = -1}, {"rows = -1"});
  refuses(product, checked(c), {.vectors = -2}, {"vectors = -2"});
  refuses(product, checked(c), {.threads = -3}, {"threads = -3"});
  refuses(product, checked(c), {.alpha = 1e39}, {"alpha = 99999", "f32"});
  CheckedMatrix odd = checked(a);
  odd.ld = 4;
  refuses({odd, checked(b)}, checked(c), {}, {"a has ld = 4", "5"});
  odd = checked(a);
  odd.data = nullptr;
  refuses({odd, checked(b)}, checked(c), {}, {"a is null", "4×5"});
  odd.rows = -1;
  refuses({odd, checked(b)}, checked(c), {}, {"-1×5", "negative"});
  odd = checked(a);
  odd.type = static_cast<CheckedType>(33);
  refuses({odd, checked(b)}, checked(c), {}, {"unknown element type 33"});
  odd.type = CheckedType::I32;
  refuses({odd, checked(b)}, checked(c), {}, {"a holds i32"});
  expect_error<KernelRejected>(
      [&] {
        check(CheckedProduct{checked(wide.transposed()), checked(wide)}, checked(Matrix<double>(6, 6)),
              {.math = Math::Tf32});
      },
      {"tf32", "f64"});
  expect_error<InvalidArgument>([&] { check_batch(std::span(&product, 1), {}); }, {"0 results of 1"});
  expect_error<InvalidArgument>([&] { parse_checked_type("complex64"); }, {"complex64", "real and imaginary"});
  expect_error<InvalidArgument>([&] { parse_checked_type("float3"); }, {"float3", "did you mean float32"});
  expect_error<InvalidArgument>([&] { Certifier({product}, CheckedType::F32).row_bound(0, 4); }, {"row 4 of 4"});
}

/// The answer for the right C says whether a C of zeros would pass. This asks for the zeros, too.
template <class T>
void check_what_zeros_get(Index m, Index n, Index k, CheckOptions options, double scale = 1) {
  Problem<T> problem(m, n, k, static_cast<Scalar<T>>(scale));
  const Certificate answer = problem.answer(options);
  problem.c = Matrix<T>(m, n);
  const Certificate of_zeros = problem.answer(options);
  BOOST_TEST_CONTEXT(m << "×" << n << "×" << k << ", math " << to_string(options.math) << ", rows " << options.rows
                       << ", vectors " << options.vectors) {
    BOOST_TEST(answer.right());
    BOOST_TEST(answer.zero_would_pass() == of_zeros.right());
    BOOST_TEST(of_zeros.zero_would_pass() == answer.zero_would_pass());
    BOOST_TEST((to_text(answer).find("a zero C would pass") != std::string::npos) == answer.zero_would_pass());
  }
}

BOOST_AUTO_TEST_CASE(an_answer_says_whether_zeros_would_pass) {
  for (const Index k : {1, 60, 3000, 100000, 150000, 200000, 300000, 600000})
    for (const CheckOptions& options :
         {CheckOptions{}, CheckOptions{.rows = 1, .vectors = 16}, CheckOptions{.rows = 2}})
      for (const Math math : {Math::Strict, Math::Tf32}) {
        CheckOptions in_mode = options;
        in_mode.math = math;
        check_what_zeros_get<float>(5, 7, k, in_mode);
      }
  check_what_zeros_get<double>(3, 4, 300000, {});
  check_what_zeros_get<float>(40, 30, 20, {.activation = Activation::None}, 1e-30);
  BOOST_TEST(Problem<float>(4, 4, 300000).answer({}).zero_would_pass());
  BOOST_TEST(!Problem<double>(4, 4, 300000).answer({}).zero_would_pass());
}

BOOST_AUTO_TEST_CASE(a_product_of_zeros_is_told_from_others) {
  Problem<float> problem(6, 5, 300000);
  problem.a = Matrix<float>(6, 300000);
  problem.c = Matrix<float>(6, 5);
  const Certificate answer = problem.answer({});
  BOOST_TEST(answer.right());
  BOOST_TEST(!answer.zero_would_pass()); // zeros are right
}

BOOST_AUTO_TEST_CASE(blind_products_of_a_batch_are_counted) {
  const Problem<float> blind(4, 4, 300000), clear(4, 4, 50);
  const std::vector<CheckedProduct> products{clear.operands(), blind.operands(), clear.operands()};
  const std::vector<CheckedMatrix> results{checked(clear.c), checked(blind.c), checked(clear.c)};
  const Certificate answer = check_batch(products, results);
  BOOST_TEST(answer.right());
  BOOST_TEST(answer.blind_products == 1);
  BOOST_TEST(to_text(answer).find("1 of the products") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
