/// Complex products that verify themselves: faults in their real products and in the steps around them.

#include <complex>
#include <limits>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <tessera/complex.hpp>
#include <tessera/linear_algebra/complex_matrix.hpp>

#include "planted.hpp"
#include "support/expect.hpp"

using namespace tessera;
using test::equal_bits;
using test::expect_error;
using test::Fault;
using test::FaultKind;
using test::faulty;
using test::plant;

namespace {

/// C := alpha·op(A)·op(B) + beta·C of raw memory.
template <class T>
struct ComplexProblem {
  using Number = std::complex<T>;
  Op op_a = Op::None, op_b = Op::None;
  Number alpha{0.5}, beta{0};
  Index m = 40, n = 50, k = 60;

  Matrix<Number> multiply(const GemmOptions& options) const {
    const auto a = Matrix<Number>::random(op_a == Op::None ? m : k, op_a == Op::None ? k : m, Seed{1});
    const auto b = Matrix<Number>::random(op_b == Op::None ? k : n, op_b == Op::None ? n : k, Seed{2});
    auto c = Matrix<Number>::random(m, n, Seed{3});
    gemm(op_a, op_b, m, n, k, alpha, a.data(), a.ld(), b.data(), b.ld(), beta, c.data(), c.ld(), options);
    return c;
  }
  Matrix<Number> right() const { return multiply({.backend = Backend::Reference}); }
  Matrix<Number> verified(Verify verify) const { return multiply({.backend = faulty(), .verify = verify}); }
};

template <class T>
std::vector<ComplexProblem<T>> problems() {
  using Number = std::complex<T>;
  return {{},
          {.beta = Number(-1)},
          {.op_a = Op::ConjugateTranspose, .op_b = Op::Transpose, .alpha = Number(1)},
          {.op_a = Op::Transpose, .op_b = Op::ConjugateTranspose, .alpha = Number(1, 2), .beta = Number(0.5, -1)},
          {.alpha = Number(0, 1)}};
}

template <class T>
void find_and_repair_complex() {
  constexpr int high = 8 * static_cast<int>(sizeof(T)) - 2; // the exponent's highest bit
  const Fault faults[] = {{.kind = FaultKind::ResultBits, .row = 17, .col = 43, .bit = high},
                          {.kind = FaultKind::ResultNan, .row = 0, .col = 0},
                          {.kind = FaultKind::OperandA, .row = 5, .col = 7, .bit = high},
                          {.kind = FaultKind::OperandB, .row = 5, .col = 7, .bit = high},
                          {.kind = FaultKind::Map, .row = 11, .col = 23, .bit = 12},
                          {.kind = FaultKind::Map, .row = 90, .col = 99, .bit = high}};
  for (const ComplexProblem<T>& problem : problems<T>()) {
    const auto right = problem.right();
    plant({});
    BOOST_TEST(equal_bits(problem.verified(Verify::Detect), right));
    for (const Fault& fault : faults) {
      BOOST_TEST_CONTEXT("fault " << static_cast<int>(fault.kind) << ", alpha " << problem.alpha << ", beta "
                                  << problem.beta) {
        plant(fault);
        BOOST_TEST(!equal_bits(problem.verified(Verify::None), right)); // it is a fault
        plant(fault);
        expect_error<DataCorruption>([&] { static_cast<void>(problem.verified(Verify::Detect)); },
                                     {"the product is wrong", "(backend faulty)"});
        const VerifyCounts before = verify_counts();
        plant(fault);
        BOOST_TEST(equal_bits(problem.verified(Verify::Repair), right));
        BOOST_TEST(verify_counts().wrong == before.wrong + 1);
        BOOST_TEST(verify_counts().repaired == before.repaired + 1);
      }
    }
  }
}

} // namespace

BOOST_AUTO_TEST_SUITE(verify_complex)

BOOST_AUTO_TEST_CASE(faults_are_found_and_repaired) {
  find_and_repair_complex<float>();
  find_and_repair_complex<double>();
}

BOOST_AUTO_TEST_CASE(the_place_is_a_complex_number) {
  const ComplexProblem<double> problem{.alpha = 1};
  plant({.kind = FaultKind::ResultBits, .row = 17, .col = 43, .bit = 62});
  try {
    static_cast<void>(problem.verified(Verify::Detect));
    BOOST_ERROR("nothing was thrown");
  } catch (const DataCorruption& error) {
    BOOST_TEST(error.row() == 17);
    BOOST_TEST(error.col() == 21);
    BOOST_TEST(test::contains(error.what(), "the imaginary part of c(17, 21) is"), error.what());
  }
}

BOOST_AUTO_TEST_CASE(blocks_know_their_places) {
  // So much scratch memory that C goes in several blocks, and k in slices.
  const ComplexProblem<double> problem{.m = 700, .n = 900, .k = 1500};
  const auto right = problem.right();
  plant({});
  BOOST_TEST(equal_bits(problem.verified(Verify::Detect), right));
  plant({.kind = FaultKind::ResultBits, .row = 650, .col = 1, .bit = 62});
  BOOST_TEST(equal_bits(problem.verified(Verify::Repair), right));
}

BOOST_AUTO_TEST_CASE(a_step_that_stays_wrong_is_no_repair) {
  const ComplexProblem<float> problem{.alpha = {1, 2}};
  plant({.kind = FaultKind::Map, .row = 3, .col = 4, .bit = 20, .always = true});
  expect_error<DataCorruption>([&] { static_cast<void>(problem.verified(Verify::Repair)); },
                               {"computing it again did not repair it", "tessera_info --health"});
  plant({});
}

BOOST_AUTO_TEST_CASE(the_last_bit_of_a_step_is_found) {
  const ComplexProblem<float> problem;
  plant({.kind = FaultKind::Map, .row = 11, .col = 23, .bit = 0});
  expect_error<DataCorruption>([&] { static_cast<void>(problem.verified(Verify::Detect)); }, {"in a copy of b"});
}

BOOST_AUTO_TEST_CASE(nan_and_inf_are_no_alarm) {
  using Number = std::complex<double>;
  auto a = Matrix<Number>::random(30, 40, Seed{1}), b = Matrix<Number>::random(40, 20, Seed{2});
  a(3, 5) = {std::numeric_limits<double>::quiet_NaN(), 1};
  b(7, 2) = {1, std::numeric_limits<double>::infinity()};
  plant({});
  const Matrix<Number> c = gemm(a, b, GemmOptions{.backend = faulty(), .verify = Verify::Detect});
  BOOST_TEST(c(4, 4) == gemm(a, b, Backend::Reference)(4, 4));
  plant({.kind = FaultKind::ResultZero, .row = 20, .col = 4});
  BOOST_CHECK_THROW(static_cast<void>(gemm(a, b, GemmOptions{.backend = faulty(), .verify = Verify::Detect})),
                    DataCorruption);
}

BOOST_AUTO_TEST_CASE(nothing_to_add) {
  using Number = std::complex<float>;
  for (const Number beta : {Number(2), Number(1, 1), Number(0)}) {
    const ComplexProblem<float> problem{.alpha = 0, .beta = beta};
    plant({});
    BOOST_TEST(equal_bits(problem.verified(Verify::Repair), problem.right()));
  }
  const ComplexProblem<float> turned{.alpha = 0, .beta = {1, 1}};
  plant({.kind = FaultKind::Map, .row = 3, .col = 4, .bit = 20});
  BOOST_TEST(equal_bits(turned.verified(Verify::Repair), turned.right()));
}

BOOST_AUTO_TEST_SUITE_END()
