/// The way to device code in SPIR-V: what a device, its driver or a program's plug-in lacks is told apart, and a
/// plug-in that is whole runs. The loader with faults stands before the real one; there "SPIR-V" is OpenCL C. Each case
/// runs in a process of its own.

#include <iostream>
#include <string>

#include <boost/test/unit_test.hpp>

#include <tessera/backend.hpp>

#include "support/expect.hpp"

#include "functors.hpp"

namespace tessera::test {
namespace {

/// Runs saxpy and returns the number of elements that differ from the reference's.
Index run_saxpy() {
  const auto x = Matrix<float>::random(70, 130, Seed{1});
  auto y = Matrix<float>::random(70, 130, Seed{2}), expected = Matrix<float>::random(70, 130, Seed{2});
  Executor &device = executor(Backend::OpenCl), &host = executor(Backend::Reference);
  for_each(host, 70, 130, Saxpy{read(x, host), update(expected, host), 3.1f});
  for_each(device, 70, 130, Saxpy{read(x, device), update(y, device), 3.1f});
  BOOST_TEST(y.newest_on() == &device);
  Index differing = 0;
  for (Index i = 0; i < 70; ++i)
    for (Index j = 0; j < 130; ++j) differing += y.at(i, j) != expected.at(i, j) ? 1 : 0;
  return differing;
}

/// Does nothing where there is no device: CTest shows the case as skipped.
bool has_device() {
  for (const BackendInfo& one : available_backends())
    if (one.backend == Backend::OpenCl && !one.available) {
      std::cout << "SKIPPED: opencl is not available: " << one.reason << '\n';
      return false;
    }
  return true;
}

void expect_unavailable(std::initializer_list<std::string_view> parts) {
  if (!has_device()) return;
  expect_error<BackendUnavailable>([] { run_saxpy(); }, {"functor 'saxpy' cannot run on opencl"});
  expect_error<BackendUnavailable>([] { run_saxpy(); }, parts); // the same answer again
}

BOOST_AUTO_TEST_SUITE(spirv)

BOOST_AUTO_TEST_CASE(works) {
  if (!has_device()) return;
  BOOST_TEST(run_saxpy() == 0);
  Executor &device = executor(Backend::OpenCl), &host = executor(Backend::Reference);
  for (const Index n : {1, 40, 1500}) { // one chunk, two levels, three levels
    const auto x = Matrix<float>::random(n, 1000, Seed{3});
    BOOST_TEST(sum(device, n, 1000, Square{read(x, device)}) == sum(host, n, 1000, Square{read(x, host)}));
  }
}
BOOST_AUTO_TEST_CASE(another_operation) {
  if (!has_device()) return;
  Executor& device = executor(Backend::OpenCl);
  const Matrix<float> x(4, 4, 2.0f);
  expect_error<BackendUnavailable>([&] { max(device, 4, 4, Square{read(x, device)}); },
                                   {"square", "not for this operation"});
}
BOOST_AUTO_TEST_CASE(too_large) {
  if (!has_device()) return;
  Executor& device = executor(Backend::OpenCl);
  Matrix<float> y(1, 10);
  Large large{write(y, device), {}};
  expect_error<BackendUnavailable>([&] { for_each(device, 10, large); },
                                   {"large", std::to_string(sizeof(Large)) + " bytes", "CL_DEVICE_MAX_PARAMETER_SIZE"});
}

// What the device lacks
BOOST_AUTO_TEST_CASE(no_spirv) {
  expect_unavailable({"takes no SPIR-V", "CL_DEVICE_IL_VERSION is ''", "intel-opencl-rt"});
}
BOOST_AUTO_TEST_CASE(too_old) { expect_unavailable({"takes SPIR-V, but", "has no clCreateProgramWithIL", "update"}); }
BOOST_AUTO_TEST_CASE(no_shared_memory) { expect_unavailable({"no shared virtual memory", "TESSERA_OPENCL_SVM=none"}); }
BOOST_AUTO_TEST_CASE(no_f64) { expect_unavailable({"no f64 (cl_khr_fp64)", "in f32"}); }
BOOST_AUTO_TEST_CASE(rounds_twice) {
  expect_unavailable({"of 4096 known fused multiply-adds in f32 otherwise than this processor", "another device"});
}
BOOST_AUTO_TEST_CASE(refused) {
  if (!has_device()) return;
  expect_error<DeviceError>([] { run_saxpy(); }, {"launch of user kernel 'saxpy'", "the program's functors"});
}

// What the plug-in lacks
BOOST_AUTO_TEST_CASE(missing_file) {
  expect_unavailable({"no libstandin_kernels_opencl.so in ", "clang-15 and llvm-spirv-15", "tessera_add_kernels()"});
}
BOOST_AUTO_TEST_CASE(wrong_abi) {
  const std::string there = "plug-in ABI " + std::to_string(spirv_table_abi + 1);
  const std::string here = "has ABI " + std::to_string(spirv_table_abi);
  expect_unavailable({there, here, "rebuild"});
}
BOOST_AUTO_TEST_CASE(wrong_size) { expect_unavailable({"its SpirvTable has", "rebuild"}); }
BOOST_AUTO_TEST_CASE(wrong_tag) { expect_unavailable({"another-standard-library", "same compiler family"}); }
BOOST_AUTO_TEST_CASE(no_symbol) { expect_unavailable({"does not export tessera_user_kernels_spirv"}); }
BOOST_AUTO_TEST_CASE(null_table) { expect_unavailable({"it has no table"}); }
BOOST_AUTO_TEST_CASE(not_a_library) { expect_unavailable({"cannot load"}); }
BOOST_AUTO_TEST_CASE(no_functors) { expect_unavailable({"no functor of this name", "add it to TESSERA_CUDA_KERNELS"}); }
BOOST_AUTO_TEST_CASE(other_functor) {
  const std::string there = std::to_string(sizeof(Saxpy) + 8), here = std::to_string(sizeof(Saxpy));
  expect_unavailable({"another functor of this name", there, here, "compile both from one header"});
}
BOOST_AUTO_TEST_CASE(no_kernel) {
  if (!has_device()) return;
  expect_error<DeviceError>([] { run_saxpy(); }, {"launch of user kernel 'saxpy'", "another_probe"});
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace tessera::test
