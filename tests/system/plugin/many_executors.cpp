/// One product on several executors: two small devices, and the backends of the host as stand-ins for more GPUs. Each
/// case runs in a process of its own.

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

#include <tessera/beyond_memory/many_executors.hpp>

#include "small_device.hpp"
#include "support/captured_errors.hpp"
#include "support/expect.hpp"

using namespace tessera;
using tessera::test::CapturedErrors;
using tessera::test::device;
using tessera::test::Executors;
using tessera::test::expect_error;
using tessera::test::host_executors;
using tessera::test::use_small_device;

namespace {

std::vector<Executors> all_lists() {
  std::vector<Executors> all{{&device(1)},
                             {&device(0), &device(1)},
                             {&executor(Backend::Reference)},
                             {&device(0), &executor(Backend::Cuda, 0, 1)},
                             {&device(1), &executor(Backend::Reference), &device(0)}};
  for (const Backend backend : {Backend::OpenMP, Backend::Tbb})
    for (const BackendInfo& info : available_backends())
      if (info.backend == backend && info.available) all.push_back({&executor(Backend::Reference), &executor(backend)});
  Executors every = host_executors();
  every.insert(every.begin(), {&device(0), &device(1)});
  all.push_back(every);
  return all;
}

/// Copies of devices are devices of their own.
std::vector<Executors> lists_of_devices() {
  return {{&device(0), &device(1)},
          {&device(1), &executor(Backend::Cuda, 1, 1), &device(0)},
          {&executor(Backend::Cuda, 0, 1), &device(1), &device(0), &executor(Backend::Cuda, 1, 1)}};
}

template <class T, class R = T, class A, class B>
void every_list(const A& a, const B& b, Scalar<T> alpha, Scalar<T> beta, const char* what,
                const std::vector<Executors>& lists = all_lists()) {
  const Matrix<R> before = beta == Scalar<T>{0}
                               ? Matrix<R>(a.rows(), b.cols(), R(std::numeric_limits<float>::quiet_NaN()))
                               : Matrix<R>::random(a.rows(), b.cols(), Seed{3});
  Matrix<R> expected = before;
  gemm(alpha, a, b, beta, expected, {.backend = Backend::Reference});
  for (const Executors& list : lists) {
    Matrix<R> c = before;
    gemm(list, alpha, a, b, beta, c);
    BOOST_TEST((c == expected), what << " on " << list.size() << " executors");
    if (list.size() < 3) continue;
    Matrix<R> flipped = transpose(before);
    gemm(list, alpha, a, b, beta, flipped.transposed());
    BOOST_TEST((transpose(flipped) == expected), what << ", C transposed, on " << list.size() << " executors");
  }
}

} // namespace

BOOST_AUTO_TEST_SUITE(many_executors)

BOOST_AUTO_TEST_CASE(the_bits_do_not_depend_on_the_list) {
  use_small_device();
  const auto a = Matrix<float>::random(530, 1100, Seed{1}), at = Matrix<float>::random(1100, 530, Seed{1});
  const auto b = Matrix<float>::random(1100, 540, Seed{2}), bt = Matrix<float>::random(540, 1100, Seed{2});
  every_list<float>(a, b, 1.0f, 0.0f, "A·B");
  every_list<float>(at.transposed(), bt.transposed(), -0.6875f, 0.375f, "AᵀBᵀ");
  every_list<float>(a.block(3, 5, 40, 90), b.block(7, 1, 90, 50), 2.0f, 1.0f, "small blocks");
  every_list<double>(Matrix<double>::random(100, 1500, Seed{1}), Matrix<double>::random(1500, 110, Seed{2}), 1.5, -1.0,
                     "f64");
  every_list<bf16>(Matrix<bf16>::random(100, 1100, Seed{1}), Matrix<bf16>::random(1100, 90, Seed{2}), 0.5f, 0.25f,
                   "bf16");
  every_list<float>(a, b, 0.0f, 0.5f, "no product");
  every_list<float>(Matrix<float>(5, 0), Matrix<float>(0, 4), 1.0f, 2.0f, "k = 0");
}

/// SMALL_DEVICE_REACHES and TESSERA_LOG=dispatch are set.
BOOST_AUTO_TEST_CASE(devices_that_reach_one_another) {
  use_small_device();
  const std::vector<Executors> lists = lists_of_devices();
  const auto said = [&](const auto& call) {
    const CapturedErrors errors;
    call();
    return errors.text();
  };
  const auto exchange = [&](const char* operand, const auto& call) {
    const std::string text = said(call), line = std::string("devices, which exchange ") + operand;
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text.find(line, at)) != std::string::npos; ++at) ++count;
    BOOST_TEST(count >= lists.size(), text);
  };
  const auto a = Matrix<float>::random(280, 3100, Seed{1}), at = Matrix<float>::random(3100, 280, Seed{1});
  const auto b = Matrix<float>::random(3100, 270, Seed{2}), bt = Matrix<float>::random(290, 3100, Seed{2});
  exchange("B", [&] { every_list<float>(a, b, 1.0f, 0.0f, "A·B", lists); });
  exchange("A", [&] { every_list<float>(at.transposed(), bt.transposed(), -0.6875f, 0.375f, "AᵀBᵀ", lists); });
  exchange("B", [&] { every_list<float>(a.block(3, 5, 270, 90), b.block(7, 1, 90, 50), 2.0f, 1.0f, "thin", lists); });
  const auto wide = Matrix<bf16>::random(90, 2100, Seed{1});
  exchange("A", [&] { every_list<bf16>(wide, Matrix<bf16>::random(2100, 1100, Seed{2}), 0.5f, 0.25f, "bf16", lists); });
  exchange("B", [&] { every_list<float>(Matrix<float>(260, 0), Matrix<float>(0, 4), 1.0f, 2.0f, "k = 0", lists); });
  const auto large = Matrix<double>::random(1300, 1100, Seed{1}), other = Matrix<double>::random(1100, 600, Seed{2});
  exchange("B", [&] { every_list<double>(large, other, 1.5, -1.0, "several blocks", lists); });
  const std::string text = said([&] {
    every_list<float>(at.block(0, 0, 100, 90), a.block(0, 0, 90, 100), 1.0f, 0.0f, "too small", {lists.front()});
  });
  BOOST_TEST(text.find("exchange") == std::string::npos, text);
}

BOOST_AUTO_TEST_CASE(each_device_has_an_executor) {
  use_small_device();
  BOOST_TEST((&device(0) == &executor(Backend::Cuda)));
  BOOST_TEST((&device(1) != &device(0)));
  BOOST_TEST((&device(1) == &device(1)));
  BOOST_TEST(device(1).capabilities().device_index == 1);
  Executor& further = executor(Backend::Cuda, 1, 1);
  BOOST_TEST((&further != &device(1)));
  BOOST_TEST((&further == &executor(Backend::Cuda, 1, 1)));
  BOOST_TEST(further.capabilities().device_index == 1);
  expect_error<InvalidArgument>([] { executor(Backend::Cuda, 1, -1); }, {"copy -1", "device 1"});
  expect_error<BackendUnavailable>([] { device(2); }, {"device 2 of backend cuda", "there are 2 small devices"});
  expect_error<InvalidArgument>([] { device(-1); }, {"device -1"});
  expect_error<InvalidArgument>([] { executor(Backend::Reference, 0); }, {"reference", "one executor"});
  expect_error<InvalidArgument>([] { executor(Backend::Auto, 0); }, {"auto"});
}

BOOST_AUTO_TEST_CASE(lists_that_are_wrong) {
  use_small_device();
  const auto a = Matrix<float>::random(10, 10, Seed{1});
  Matrix<float> c(10, 10, 5.0f);
  const auto refused = [&](const Executors& list, const GemmOptions& options,
                           std::initializer_list<std::string_view> parts) {
    expect_error<InvalidArgument>([&] { gemm(list, 1.0f, a, a, 0.0f, c, options); }, parts);
  };
  refused({}, {}, {"empty"});
  refused({&device(0), nullptr}, {}, {"executor 1", "null"});
  refused({&device(0), &device(1), &device(0)}, {}, {"cuda:0", "twice"});
  refused({&device(0)}, {.backend = Backend::Tbb}, {"options.backend is tbb"});
  const auto two = a.block(0, 0, 2, 2);
  expect_error<InvalidArgument>([&] { gemm(Executors{&device(0)}, 1.0f, two, two, 0.0f, c); }, {"10×10", "2×2"});
  BOOST_TEST((c == Matrix<float>(10, 10, 5.0f)));
}

/// Device 1 breaks at its first copy: nothing has been written, or the error says that something was.
BOOST_AUTO_TEST_CASE(an_executor_that_breaks_is_named) { // SMALL_DEVICE_BREAKS is 1:7
  use_small_device();
  const auto a = Matrix<float>::random(1500, 1500, Seed{1});
  Matrix<float> c(1500, 1500, 5.0f);
  expect_error<DeviceError>(
      [&] {
        gemm(Executors{&device(0), &device(1)}, 1.0f, a, a, 1.0f, c);
      },
      {"cuda:1 (small device)", "fell off the bus"});
  const auto half = a.block(0, 0, 300, 300);
  Matrix<float> small(300, 300);
  gemm(Executors{&device(0)}, 1.0f, half, half, 0.0f, small);
  BOOST_TEST((small == gemm(half, half, Backend::Reference))); // the other one still works
}

/// A device that waited for slices of the broken one would wait for ever.
BOOST_AUTO_TEST_CASE(a_device_that_breaks_stops_the_others) { // SMALL_DEVICE_REACHES is set, SMALL_DEVICE_BREAKS is 1:7
  use_small_device();
  const auto a = Matrix<float>::random(300, 9000, Seed{1});
  Matrix<float> c(300, 300, 5.0f);
  expect_error<DeviceError>(
      [&] {
        gemm(Executors{&device(0), &device(1)}, 1.0f, a, a.transposed(), 1.0f, c);
      },
      {"cuda:1 (small device)", "fell off the bus"});
  BOOST_TEST((c == Matrix<float>(300, 300, 5.0f))); // it broke before the first rows were complete
}

BOOST_AUTO_TEST_CASE(an_executor_without_memory) { // SMALL_DEVICE is set
  use_small_device();
  const auto a = Matrix<float>::random(300, 2000, Seed{1});
  Matrix<float> c(300, 300, 5.0f);
  expect_error<OutOfMemory>(
      [&] {
        gemm(Executors{&executor(Backend::Reference), &device(1)}, 1.0f, a, a.transposed(), 1.0f, c);
      },
      {"cuda:1 (small device)", "out of device memory", "64×64"});
  BOOST_TEST((c == Matrix<float>(300, 300, 5.0f)));
}

BOOST_AUTO_TEST_SUITE_END()
