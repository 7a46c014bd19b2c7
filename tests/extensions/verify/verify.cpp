/// Products that verify themselves: what is found and repaired, what is refused, and what tools and counters hear.

#include <cmath>
#include <limits>

#include <boost/test/unit_test.hpp>

#include <tessera/queue.hpp>
#include <tessera/tessera.hpp>

#include "core/tools/recorder.hpp"
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

constexpr Index m = 70, n = 90, k = 130;

template <class T>
struct Problem {
  Matrix<T> a = Matrix<T>::random(m, k, Seed{1}), b = Matrix<T>::random(k, n, Seed{2});
  Matrix<T> before = Matrix<T>::random(m, n, Seed{3});
  Matrix<T> right = before;

  explicit Problem(T beta = 0) : beta_(beta) {
    gemm(T(0.5), a, b, beta, right, GemmOptions{.backend = Backend::Reference});
  }

  Matrix<T> multiply(Verify verify, Math math = Math::Strict, const std::string& kernel = {}) const {
    Matrix<T> c = before;
    gemm(T(0.5), a, b, beta_, c, GemmOptions{.backend = faulty(), .math = math, .kernel = kernel, .verify = verify});
    return c;
  }

 private:
  T beta_;
};

template <class T>
void find_and_repair(T beta) {
  const Problem<T> problem(beta);
  constexpr int high = 8 * static_cast<int>(sizeof(T)) - 2; // the exponent's highest bit
  const Fault faults[] = {
      {.kind = FaultKind::ResultBits, .row = 17, .col = 42, .bit = high},
      {.kind = FaultKind::ResultBits, .row = 69, .col = 80, .count = 10, .bit = high},
      {.kind = FaultKind::ResultNan, .row = 0, .col = 0},
      {.kind = FaultKind::OperandA, .row = 5, .col = 7, .bit = high},
      {.kind = FaultKind::OperandB, .row = 5, .col = 7, .bit = high},
  };
  for (const Fault& fault : faults) {
    BOOST_TEST_CONTEXT("fault " << static_cast<int>(fault.kind) << ", beta " << beta) {
      plant(fault);
      BOOST_TEST(!equal_bits(problem.multiply(Verify::None), problem.right)); // it is a fault
      plant(fault);
      expect_error<DataCorruption>([&] { static_cast<void>(problem.multiply(Verify::Detect)); },
                                   {"the product is wrong", "(backend faulty): c(", "exactly "});
      const VerifyCounts before = verify_counts();
      plant(fault);
      BOOST_TEST(equal_bits(problem.multiply(Verify::Repair), problem.right));
      const VerifyCounts after = verify_counts();
      BOOST_TEST(after.products == before.products + 1);
      BOOST_TEST(after.wrong == before.wrong + 1);
      BOOST_TEST(after.repaired == before.repaired + 1);
      BOOST_TEST(after.repaired_rows > before.repaired_rows);
      BOOST_TEST(after.repaired_elements > before.repaired_elements);
    }
  }
}

} // namespace

BOOST_AUTO_TEST_SUITE(verify)

BOOST_AUTO_TEST_CASE(faults_are_found_and_repaired) {
  find_and_repair<float>(0);
  find_and_repair<float>(2);
  find_and_repair<double>(0);
  find_and_repair<double>(-1);
}

BOOST_AUTO_TEST_CASE(the_place_is_named) {
  const Problem<double> problem;
  plant({.kind = FaultKind::ResultBits, .row = 17, .col = 42, .bit = 50});
  try {
    static_cast<void>(problem.multiply(Verify::Detect));
    BOOST_ERROR("nothing was thrown");
  } catch (const DataCorruption& error) {
    BOOST_TEST(error.row() == 17);
    BOOST_TEST(error.col() == 42);
    BOOST_TEST((error.code() == StatusCode::DataCorruption));
    BOOST_TEST(test::contains(error.what(), "wrong in 1 of 70 rows"), error.what());
  }
}

BOOST_AUTO_TEST_CASE(a_sound_product_has_its_bits_and_no_alarm) {
  plant({});
  const Problem<float> f32(2);
  const Problem<double> f64(2);
  for (const Verify verify : {Verify::Detect, Verify::Repair}) {
    BOOST_TEST(equal_bits(f32.multiply(verify), f32.right));
    BOOST_TEST(equal_bits(f64.multiply(verify), f64.right));
  }
  BOOST_TEST(verify_counts().products >= 4u);
}

BOOST_AUTO_TEST_CASE(a_fault_that_stays_is_no_repair) {
  const Problem<double> problem(1);
  plant({.kind = FaultKind::ResultBits, .row = 3, .col = 4, .bit = 60, .always = true});
  expect_error<DataCorruption>([&] { static_cast<void>(problem.multiply(Verify::Repair)); },
                               {"computing it again did not repair it", "tessera_info --health"});
  plant({});
}

BOOST_AUTO_TEST_CASE(an_operand_that_changes_is_told_apart) {
  for (const Verify verify : {Verify::Detect, Verify::Repair}) {
    const Problem<double> problem;
    plant({.kind = FaultKind::OperandForGood, .row = 9, .col = 4, .bit = 61});
    try {
      static_cast<void>(problem.multiply(verify));
      BOOST_ERROR("nothing was thrown");
    } catch (const DataCorruption& error) {
      BOOST_TEST(error.row() == 9);
      BOOST_TEST(error.col() == -1);
      BOOST_TEST(test::contains(error.what(), "an operand changed"), error.what());
    }
  }
}

BOOST_AUTO_TEST_CASE(nan_and_inf_of_operands_are_no_alarm_and_hide_no_fault) {
  constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  Problem<double> problem;
  problem.a(3, 5) = nan;
  problem.a(8, 1) = inf;
  problem.b(4, 60) = inf;
  problem.b(7, 61) = nan;
  problem.b(9, 62) = 1e300; // finite, and too large for sums of a group
  Matrix<double> right = gemm(problem.a, problem.b, Backend::Reference);
  const auto multiply = [&](Verify verify) {
    return gemm(problem.a, problem.b, GemmOptions{.backend = faulty(), .verify = verify});
  };
  plant({});
  const Matrix<double> sound = multiply(Verify::Detect);
  for (Index i = 0; i < m; ++i)
    for (Index j = 0; j < n; ++j)
      BOOST_TEST_REQUIRE((sound(i, j) == right(i, j) || (std::isnan(sound(i, j)) && std::isnan(right(i, j)))));
  // A sound row, the row of the NaN, the columns of Inf and of the large number.
  const Fault faults[] = {{.kind = FaultKind::ResultBits, .row = 20, .col = 20, .bit = 62},
                          {.kind = FaultKind::ResultZero, .row = 3, .col = 20},
                          {.kind = FaultKind::ResultZero, .row = 20, .col = 60},
                          {.kind = FaultKind::ResultNan, .row = 20, .col = 62},
                          {.kind = FaultKind::ResultBits, .row = 21, .col = 62, .bit = 45}};
  for (const Fault& fault : faults) {
    plant(fault);
    BOOST_CHECK_THROW(static_cast<void>(multiply(Verify::Detect)), DataCorruption);
    plant(fault);
    const Matrix<double> repaired = multiply(Verify::Repair);
    for (const auto& [i, j] : {std::pair{fault.row, fault.col}, std::pair{Index{20}, Index{20}}})
      BOOST_TEST((repaired(i, j) == right(i, j) || (std::isnan(repaired(i, j)) && std::isnan(right(i, j)))));
  }
}

BOOST_AUTO_TEST_CASE(other_types_and_modes) {
  plant({});
  const Matrix<float> a = Matrix<float>::random(m, 3000, Seed{1}), b = Matrix<float>::random(3000, n, Seed{2});
  for (const Math math : {Math::Strict, Math::Tf32, Math::Bf16, Math::Fp16, Math::EmulatedFp16x3, Math::EmulatedBf16x6,
                          Math::ScaledFp16, Math::Compensated, Math::Strassen}) {
    BOOST_TEST_CONTEXT(to_string(math)) {
      const bool of_units = math != Math::Strict && math != Math::Compensated && math != Math::Strassen;
      const GemmOptions options{
          .backend = faulty(), .math = math, .kernel = of_units ? "hopper_units" : "", .verify = Verify::Detect};
      BOOST_CHECK_NO_THROW(static_cast<void>(gemm(a, b, options)));
      plant({.kind = FaultKind::ResultBits, .row = 1, .col = 2, .count = 8, .bit = 29}); // one of them is 2 or more
      BOOST_CHECK_THROW(static_cast<void>(gemm(a, b, options)), DataCorruption);
    }
  }
  const auto f64_a = Matrix<double>::random(m, 3000, Seed{1}), f64_b = Matrix<double>::random(3000, n, Seed{2});
  const GemmOptions whole{.backend = faulty(), .math = Math::Int8Units, .verify = Verify::Detect};
  BOOST_CHECK_NO_THROW(static_cast<void>(gemm(f64_a, f64_b, whole)));
  plant({.kind = FaultKind::ResultBits, .row = 1, .col = 2, .count = 8, .bit = 61}); // one of them is 2 or more
  BOOST_CHECK_THROW(static_cast<void>(gemm(f64_a, f64_b, whole)), DataCorruption);
  const auto narrow = [&]<class T>(std::type_identity<T>) {
    const Matrix<T> x = Matrix<T>::random(m, k, Seed{1}), y = Matrix<T>::random(k, n, Seed{2});
    const GemmOptions options{.backend = faulty(), .verify = Verify::Repair};
    const Matrix<T> right = gemm(x, y, faulty());
    const Matrix<float> wide = gemm<float>(x, y, faulty());
    plant({.kind = FaultKind::ResultBits, .row = 1, .col = 2, .bit = 14});
    BOOST_TEST(equal_bits(gemm(x, y, options), right));
    plant({.kind = FaultKind::ResultBits, .row = 1, .col = 2, .bit = 30});
    BOOST_TEST(equal_bits(gemm<float>(x, y, options), wide));
  };
  narrow(std::type_identity<f16>{});
  narrow(std::type_identity<bf16>{});
}

BOOST_AUTO_TEST_CASE(views_transposes_and_shapes) {
  plant({});
  const Matrix<double> whole = Matrix<double>::random(300, 300, Seed{4});
  const GemmOptions options{.backend = faulty(), .verify = Verify::Repair};
  const Fault fault{.kind = FaultKind::ResultBits, .row = 3, .col = 2, .bit = 62};
  const auto expect = [&](const auto& a, const auto& b) {
    const Matrix<double> right = gemm(a, b, Backend::Reference);
    plant({});
    BOOST_TEST(equal_bits(gemm(a, b, options), right));
    if (right.rows() == 0 || right.cols() == 0 || a.cols() == 0) return;
    plant(fault);
    BOOST_TEST(equal_bits(gemm(a, b, options), right));
  };
  expect(whole.block(3, 5, 40, 60).transposed(), whole.block(7, 9, 40, 33));
  expect(whole.block(3, 5, 40, 60), whole.block(7, 9, 33, 60).transposed());
  expect(whole.block(0, 0, 1, 300), whole);
  expect(whole, whole.block(0, 0, 300, 1));
  expect(whole.block(0, 0, 5, 0), whole.block(0, 0, 0, 5));
  expect(whole.block(0, 0, 0, 5), whole.block(0, 0, 5, 7));
  Matrix<double> turned(33, 60);
  gemm(1.0, whole.block(0, 0, 60, 20), whole.block(0, 0, 20, 33), 0.0, turned.transposed(), options);
  const Matrix<double> straight = gemm(whole.block(0, 0, 60, 20), whole.block(0, 0, 20, 33), Backend::Reference);
  for (Index i = 0; i < 60; ++i)
    for (Index j = 0; j < 33; ++j) BOOST_TEST_REQUIRE(turned(j, i) == straight(i, j));
  Matrix<double> kept = whole; // alpha = 0 does not read A and B, and C becomes beta·C
  gemm(0.0, whole, whole, 2.0, kept, options);
  BOOST_TEST(kept(7, 8) == 2 * whole(7, 8));
}

BOOST_AUTO_TEST_CASE(what_cannot_verify_itself_is_refused_with_a_reason) {
  plant({});
  const Problem<float> problem;
  const GemmOptions detect{.backend = faulty(), .verify = Verify::Detect};
  Matrix<float> c = problem.before;
  MatrixEpilogue<float> epilogue;
  epilogue.activation = Activation::Relu;
  expect_error<InvalidArgument>([&] { gemm(1.0F, problem.a, problem.b, 0.0F, c, epilogue, detect); },
                                {"options.verify is detect", "epilogue"});
  ExecutionQueue queue(faulty());
  expect_error<InvalidArgument>([&] { gemm(queue, 1.0F, problem.a, problem.b, 0.0F, c, detect); },
                                {"a product in a queue cannot verify itself"});
  expect_error<InvalidArgument>([] { static_cast<void>(parse_verify("detekt")); }, {"did you mean 'detect'?"});
}

BOOST_AUTO_TEST_CASE(a_device_is_refused_with_a_reason) {
  const Matrix<float> a = Matrix<float>::random(40, 40, Seed{1});
  expect_error<KernelRejected>(
      [&] { static_cast<void>(gemm(a, a, {.backend = Backend::Cuda, .verify = Verify::Detect})); },
      {"backend cuda computes in a device's memory", "name a backend of the host"});
  BOOST_TEST((gemm(a, a, {.verify = Verify::Detect}) == gemm(a, a, Backend::Reference))); // Auto takes the host
}

BOOST_AUTO_TEST_CASE(tools_hear_of_it) {
  const Problem<double> problem;
  test::Recorder recorder;
  plant({.kind = FaultKind::ResultBits, .row = 17, .col = 42, .bit = 62});
  static_cast<void>(problem.multiply(Verify::Repair));
  const auto whole = recorder.of(tools::Kind::Verify), repair = recorder.of(tools::Kind::Repair);
  BOOST_TEST_REQUIRE(whole.size() == 2u);
  BOOST_TEST_REQUIRE(repair.size() == 2u);
  BOOST_TEST(whole[0].name == "verify");
  BOOST_TEST(repair[0].name == "repair");
  BOOST_TEST(repair[0].operation.m == m);
  BOOST_TEST(repair[0].operation.parent == whole[0].operation.id);
  BOOST_TEST((whole[1].outcome == StatusCode::Ok));
  plant({.kind = FaultKind::ResultBits, .row = 17, .col = 42, .bit = 62});
  BOOST_CHECK_THROW(static_cast<void>(problem.multiply(Verify::Detect)), DataCorruption);
  BOOST_TEST((recorder.of(tools::Kind::Verify).back().outcome == StatusCode::DataCorruption));
}

BOOST_AUTO_TEST_SUITE_END()
