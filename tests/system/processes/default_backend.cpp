/// Which backend serves what a program leaves to Backend::Auto: the one of TESSERA_BACKEND, else the first one in host
/// memory that the program named, else the best one. Each case runs in a process of its own, which must not load the
/// other runtime. TESTED_BACKEND names the backend, and OTHER_BACKEND one whose runtime must not be there.

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <tessera/complex.hpp>
#include <tessera/gemm_batch.hpp>
#include <tessera/queue.hpp>
#include <tessera/tessera.hpp>
#include <tessera/user_kernel/user_kernel.hpp>

#include "child.hpp"
#include "support/expect.hpp"

using namespace tessera;
using tessera::test::expect_error;
using tessera::test::in_child;

namespace {

std::string word_of(const char* variable) {
  const char* const word = std::getenv(variable);
  return word != nullptr ? word : "";
}

Backend tested() { return parse_backend(word_of("TESTED_BACKEND")); }

/// Is a file whose path has this part in the memory of the process?
bool is_loaded(const std::string& part) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (line.find(part) != std::string::npos) return true;
  return false;
}

bool has_plugin_of(const std::string& backend) { return is_loaded("libtessera_" + backend + ".so"); }

/// Neither the plug-in of the other backend nor the runtime beneath it is in the process.
void expect_no_other_runtime() {
  const std::string other = word_of("OTHER_BACKEND");
  BOOST_TEST(!has_plugin_of(other));
  BOOST_TEST(!is_loaded(other == "openmp" ? "libgomp" : "libtbb.so"));
}

/// Elements that are written one by one need no executor.
Matrix<float> written_by_hand(Index rows, Index cols) {
  auto x = Matrix<float>::uninitialized(rows, cols);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) x(i, j) = static_cast<float>((7 * i + 3 * j) % 11) - 5;
  return x;
}

struct Twice {
  static constexpr char name[] = "twice";
  In<float> x;
  TESSERA_FN float operator()(Index i, Index j) const { return 2 * x(i, j); }
};

/// Calls everything that leaves its backend to Auto. Is each result right? All of them are whole numbers.
bool everything_is_right() {
  const Matrix<float> x = written_by_hand(300, 200);
  const auto uniform = Matrix<float>::random(300, 200, Seed{3});
  Matrix<float> filled(300, 200, 2.0F);
  filled.fill(3);
  const Matrix<float> sum = x + filled, scaled = 4.0F * x, flipped = transpose(x), each = hadamard(x, filled);
  bool right = uniform(299, 199) == Matrix<float>::random(300, 200, Seed{3})(299, 199);
  right = right && sum(2, 3) == x(2, 3) + 3 && scaled(2, 3) == 4 * x(2, 3) && each(2, 3) == 3 * x(2, 3);
  right = right && flipped(3, 2) == x(2, 3) && matrix_cast<double>(x)(2, 3) == x(2, 3);
  right = right && filled.sum_of_squares() == 9.0 * 60000 && filled.norm_sum() == 3.0 * 60000;
  right = right && filled.norm_max() == 3 && std::abs(filled.norm_frobenius() - 3 * std::sqrt(60000.0)) < 1e-9;
  const std::vector<std::int32_t> numbers(1000, 2);
  right = right && sum_of_squares(numbers) == 4000;

  const Matrix<float> product = gemm(x, flipped), expected = gemm(x, flipped, Backend::Reference);
  right = right && product == expected;
  right = right &&
          gemm_batch(std::vector<Matrix<float>>{x, x}, std::vector<Matrix<float>>{flipped, flipped})[1] == expected;
  const std::vector<std::complex<float>> a(64, {1, 1});
  std::vector<std::complex<float>> c(64);
  gemm(Op::None, Op::None, 8, 8, 8, 1, a.data(), 8, a.data(), 8, 0, c.data(), 8);
  right = right && c[63] == std::complex<float>(0, 16);

  Executor& automatic = executor(Backend::Auto);
  const double twice = static_cast<double>(tessera::sum(automatic, 300, 200, Twice{read(filled, automatic)}));
  right = right && twice == 6.0 * 60000;
  ExecutionQueue queue;
  Matrix<float> copied = Matrix<float>::uninitialized(300, 200);
  copy(copied, x, queue);
  queue.finish();
  return right && copied == x && automatic.capabilities().backend == queue.executor().capabilities().backend;
}

} // namespace

BOOST_AUTO_TEST_SUITE(default_backend)

BOOST_AUTO_TEST_CASE(the_first_product_decides) {
  const Matrix<float> x = written_by_hand(64, 64);
  static_cast<void>(gemm(x, x, tested()));
  BOOST_TEST(everything_is_right());
  BOOST_TEST((executor(Backend::Auto).capabilities().backend == tested()));
  BOOST_TEST(in_child(everything_is_right) == "right");
  BOOST_TEST(has_plugin_of(word_of("TESTED_BACKEND")));
  expect_no_other_runtime();
}

BOOST_AUTO_TEST_CASE(an_executor_that_is_asked_for_decides) {
  Executor& named = executor(tested());
  BOOST_TEST(everything_is_right());
  BOOST_TEST(&executor(Backend::Auto) == &named);
  expect_no_other_runtime();
}

BOOST_AUTO_TEST_CASE(threads_that_name_it_at_once_agree) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([] { static_cast<void>(executor(tested())); });
  for (std::thread& each : threads) each.join();
  BOOST_TEST(everything_is_right());
  expect_no_other_runtime();
}

/// CTest sets TESSERA_BACKEND to the tested backend.
BOOST_AUTO_TEST_CASE(the_variable_decides) {
  BOOST_TEST(everything_is_right());
  BOOST_TEST((executor(Backend::Auto).capabilities().backend == tested()));
  BOOST_TEST(in_child(everything_is_right) == "right");
  BOOST_TEST((tested() == Backend::Reference || has_plugin_of(word_of("TESTED_BACKEND"))));
  expect_no_other_runtime();
}

/// CTest sets TESSERA_BACKEND to the tested backend.
BOOST_AUTO_TEST_CASE(the_variable_goes_before_what_the_program_names) {
  const Backend other = parse_backend(word_of("OTHER_BACKEND"));
  const Matrix<float> x = written_by_hand(64, 64);
  BOOST_TEST((gemm(x, x, other) == gemm(x, x)));
  BOOST_TEST((executor(other).capabilities().backend == other));
  BOOST_TEST((executor(Backend::Auto).capabilities().backend == tested()));
}

/// The reference has no threads, and a list or a ladder is a question.
BOOST_AUTO_TEST_CASE(the_reference_and_questions_decide_nothing) {
  const Matrix<float> x = written_by_hand(64, 64);
  static_cast<void>(gemm(x, x, Backend::Reference));
  static_cast<void>(available_backends());
  const Capabilities* const other = capabilities_of(parse_backend(word_of("OTHER_BACKEND")));
  BOOST_REQUIRE(other != nullptr);
  BOOST_TEST((other->backend == parse_backend(word_of("OTHER_BACKEND"))));
  static_cast<void>(gemm_kernels(parse_backend(word_of("OTHER_BACKEND"))));
  static_cast<void>(executor(tested()));
  BOOST_TEST((executor(Backend::Auto).capabilities().backend == tested()));
}

BOOST_AUTO_TEST_CASE(the_best_one_serves_where_none_is_named) {
  BOOST_TEST(everything_is_right());
  BOOST_TEST(has_plugin_of("openmp"));
  BOOST_TEST(is_loaded("libgomp"));
  BOOST_TEST(!has_plugin_of("tbb"));
}

/// CTest sets TESSERA_BACKEND to a word that no backend has.
BOOST_AUTO_TEST_CASE(an_unknown_word_is_an_error) {
  const Matrix<float> x = written_by_hand(2, 2);
  const std::initializer_list<std::string_view> parts{"TESSERA_BACKEND=tbbb", "unknown backend 'tbbb'",
                                                      "did you mean 'tbb'?", "auto reference openmp tbb cuda"};
  for (int i = 0; i < 2; ++i) { // and it stays one
    expect_error<InvalidArgument>([&] { static_cast<void>(gemm(x, x)); }, parts);
    expect_error<InvalidArgument>([] { static_cast<void>(Matrix<float>::random(2, 2, Seed{1})); }, parts);
    expect_error<InvalidArgument>([] { static_cast<void>(executor(Backend::Auto)); }, parts);
  }
  BOOST_TEST((gemm(x, x, Backend::Reference)(0, 0) != 0)); // a backend that the call names needs no default
}

/// CTest sets TESSERA_BACKEND to tbb, and TESSERA_PLUGIN_PATH to one that does not work.
BOOST_AUTO_TEST_CASE(nothing_falls_back_from_the_variable) {
  const Matrix<float> x = written_by_hand(2, 2);
  const std::initializer_list<std::string_view> parts{"TESSERA_BACKEND=tbb", "backend tbb is not available",
                                                      "there is no such device; plug one in", "auto reference"};
  expect_error<BackendUnavailable>([&] { static_cast<void>(gemm(x, x)); }, parts);
  expect_error<BackendUnavailable>([] { static_cast<void>(Matrix<float>::random(2, 2, Seed{1})); }, parts);
  expect_error<BackendUnavailable>([&] { static_cast<void>(x.norm_max()); }, parts);
  expect_error<BackendUnavailable>([] { static_cast<void>(executor(Backend::Auto)); }, parts);
  expect_error<BackendUnavailable>([] { const ExecutionQueue queue; }, parts);
}

/// CTest sets TESSERA_BACKEND to cuda, and TESSERA_PLUGIN_PATH to a device in host memory.
BOOST_AUTO_TEST_CASE(a_device_takes_products_and_the_host_keeps_what_is_there) {
  const Matrix<float> x = written_by_hand(8, 8);
  BOOST_TEST((executor(Backend::Auto).capabilities().backend == Backend::Cuda));
  const Matrix<float> product = gemm(x, x);
  BOOST_REQUIRE(product.newest_on() != nullptr);
  BOOST_TEST((product.newest_on()->capabilities().backend == Backend::Cuda));
  BOOST_TEST(((product + product).newest_on() == product.newest_on()));
  BOOST_TEST((Matrix<float>::random(8, 8, Seed{1}).newest_on() == nullptr));
}

BOOST_AUTO_TEST_SUITE_END()
