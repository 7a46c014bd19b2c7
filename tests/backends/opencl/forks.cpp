/// fork() in a process that has loaded OpenCL's drivers, whose threads the child lacks: nothing waits for them.

#include "children.hpp"
#include "support.hpp"
#include "support/expect.hpp"

using namespace tessera;
using namespace tessera::opencl_test;

namespace {

/// In the child the device is refused with what to do, and a product that names no backend is computed on the host.
void expect_refused_in_child() {
  const int status = in_child([] {
    try {
      executor(Backend::OpenCl);
      throw std::logic_error("the device can be used");
    } catch (const BackendUnavailable& error) {
      if (!test::contains(error.what(), "forked") || !test::contains(error.what(), "new program"))
        throw std::logic_error(error.what());
    }
    const auto a = Matrix<float>::random(40, 50, Seed{1}), b = Matrix<float>::random(50, 60, Seed{2});
    if (gemm(a, b) != gemm(a, b, Backend::Reference)) throw std::logic_error("other bits");
  });
  BOOST_TEST(status == 0);
}

} // namespace

BOOST_AUTO_TEST_SUITE(forks)

BOOST_AUTO_TEST_CASE(after_a_product) {
  if (!has_device()) return;
  const auto a = Matrix<float>::random(40, 50, Seed{1}), b = Matrix<float>::random(50, 60, Seed{2});
  const Matrix<float> expected = gemm(a, b, Backend::Reference);
  BOOST_TEST((gemm(a, b, Backend::OpenCl) == expected));
  expect_refused_in_child();
  BOOST_TEST((gemm(a, b, Backend::OpenCl) == expected)); // the parent goes on
}

/// The parent has an element on the device that the child reads.
BOOST_AUTO_TEST_CASE(with_a_result_on_the_device) {
  if (!has_device()) return;
  const auto a = Matrix<float>::random(40, 50, Seed{1}), b = Matrix<float>::random(50, 60, Seed{2});
  const Matrix<float> c = gemm(a, b, Backend::OpenCl);
  const int status = in_child([&] {
    try {
      static_cast<void>(c(3, 4));
      throw std::logic_error("an element on the device was read");
    } catch (const Error&) {
    }
  });
  BOOST_TEST(status == 0);
  BOOST_TEST((c == gemm(a, b, Backend::Reference)));
}

/// Auto has looked for a GPU, as TESSERA_OPENCL_DEVICE lets it, and has made no executor.
BOOST_AUTO_TEST_CASE(after_a_look) {
  const Backend taken = executor(Backend::Auto).capabilities().backend;
  if (taken == Backend::OpenCl || taken == Backend::Cuda) {
    BOOST_TEST_MESSAGE("SKIPPED: Backend::Auto takes " << to_string(taken) << ", and has looked no further");
    return;
  }
  expect_refused_in_child();
  static_cast<void>(has_device()); // says where the test had no device to look at
}

/// A parent that has not loaded OpenCL leaves it to its children.
BOOST_AUTO_TEST_CASE(before_any_use) {
  constexpr int no_device = 3;
  const int status = in_child([] {
    if (!info().available) ::_exit(no_device);
    const auto a = Matrix<float>::random(40, 50, Seed{1}), b = Matrix<float>::random(50, 60, Seed{2});
    if (gemm(a, b, Backend::OpenCl) != gemm(a, b, Backend::Reference)) throw std::logic_error("other bits");
  });
  if (status == no_device) {
    BOOST_TEST_MESSAGE("SKIPPED: opencl is not available");
    return;
  }
  BOOST_TEST(status == 0);
}

BOOST_AUTO_TEST_SUITE_END()
