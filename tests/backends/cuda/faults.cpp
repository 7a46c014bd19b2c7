/// Tests what the plug-in says on a machine that it cannot use, and if the environment makes no sense.

#define BOOST_TEST_MODULE cuda_faults
#include <dlfcn.h>
#include <set>
#include <string>

#include <boost/test/unit_test.hpp>

#include <tessera/performance/tuning.hpp>
#include <tessera/tessera.hpp>

#include "cuda_plugin.hpp"

using namespace tessera;
using namespace tessera::cuda_test;

namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Says whether the driver's library can be opened, independently of what the plug-in finds.
bool driver_present() {
  static const bool present = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL) != nullptr;
  return present;
}

using boost::test_tools::assertion_result;

assertion_result without_driver(boost::unit_test::test_unit_id) {
  assertion_result result(!driver_present());
  if (!result) result.message() << "this machine has an NVIDIA driver";
  return result;
}

/// Returns a precondition: the process has a driver, and its environment has `variable` = `value`.
auto in_environment(const char* variable, const std::string& value) {
  return [=](boost::unit_test::test_unit_id) {
    const char* set = std::getenv(variable);
    assertion_result result(driver_present() && set != nullptr && set == value);
    if (!result) result.message() << "needs a driver and " << variable << '=' << value;
    return result;
  };
}

const BackendInfo cuda_backend() {
  for (const BackendInfo& info : available_backends())
    if (info.backend == Backend::Cuda) return info;
  throw std::logic_error("available_backends() does not list cuda");
}

/// Checks that the message says what was found and what to do.
void check_unusable(const Status& status, StatusCode code, const std::string& found, const std::string& advice) {
  BOOST_TEST_CONTEXT(status.why) {
    BOOST_TEST(static_cast<int>(status.code) == static_cast<int>(code));
    BOOST_TEST(contains(status.why, found));
    BOOST_TEST(contains(status.why, advice));
  }
}

} // namespace

BOOST_AUTO_TEST_CASE(the_plugin_loads_with_or_without_a_driver) {
  const BackendInfo info = cuda_backend();
  BOOST_TEST(info.built, info.reason);
  BOOST_TEST(contains(info.path, "libtessera_cuda.so"));
  BOOST_TEST(info.available == info.reason.empty());
}

BOOST_AUTO_TEST_CASE(kernels_are_listed_without_a_device) {
  std::set<std::string> gemm;
  for (const GemmKernel& kernel : cuda_plugin().gemm_kernels()) {
    gemm.insert(kernel.name);
    BOOST_TEST(kernel.run != nullptr, kernel.name);
    BOOST_TEST(std::string(kernel.summary).size() > 0, kernel.name);
  }
  BOOST_TEST(gemm.contains("naive_coalesced"));
  std::set<std::string> reductions, of_whole_numbers;
  for (const ReduceKernel& kernel : cuda_plugin().reduce_kernels()) {
    (kernel.type == DType::I32 ? of_whole_numbers : reductions).insert(kernel.name);
    BOOST_TEST(kernel.run != nullptr, kernel.name);
  }
  for (const char* name : {"canonical", "cub", "warp_shuffle", "tree_unrolled", "tree_sequential", "tree_strided",
                           "block_sum", "many_blocks", "interleaved", "contiguous", "one_thread"})
    BOOST_TEST(reductions.contains(name), name);
  BOOST_TEST(of_whole_numbers == reductions, boost::test_tools::per_element());
  BOOST_TEST(cuda_plugin().reduce_kernels().front().name == std::string("canonical"));
}

/// Yardsticks time the vendor's kernels when they first meet a product. No caller should wait for that unasked.
BOOST_AUTO_TEST_CASE(yardsticks_run_by_name_alone) {
  int yardsticks = 0;
  for (const GemmKernel& kernel : cuda_plugin().gemm_kernels()) {
    if (!std::string(kernel.name).starts_with("cublas_lt")) continue;
    ++yardsticks;
    BOOST_TEST(!keeps_contract(kernel), kernel.name);
  }
  BOOST_TEST(yardsticks == 7);
}

/// A library is opened once in a process. This case opens it first.
BOOST_AUTO_TEST_CASE(a_yardstick_without_its_library_rejects) {
  const Environment named("TESSERA_CUBLASLT", "/nowhere/libcublasLt.so.13");
  for (const GemmKernel& kernel : cuda_plugin().gemm_kernels()) {
    if (std::string(kernel.name) != "cublas_lt") continue;
    const char* reason = kernel.reject(kernel, GemmCall{}, Capabilities{});
    BOOST_REQUIRE(reason != nullptr);
    BOOST_TEST(contains(reason, "TESSERA_CUBLASLT=/nowhere/libcublasLt.so.13"));
    BOOST_TEST(contains(reason, "set it to the path"));
  }
}

BOOST_AUTO_TEST_CASE(no_driver, *boost::unit_test::precondition(without_driver)) {
  check_unusable(cuda_plugin().probe(), StatusCode::Unavailable, "no NVIDIA driver: libcuda.so.1", "install a driver");
  OwnExecutor executor;
  check_unusable(create_own(executor), StatusCode::Unavailable, "no NVIDIA driver", "CUDA ");
  BOOST_TEST(!executor);
  check_unusable(create_own(executor, 3), StatusCode::Unavailable, "no NVIDIA driver", "install a driver");
  BOOST_TEST(contains(cuda_backend().reason, "no NVIDIA driver"));
}

BOOST_AUTO_TEST_CASE(a_named_backend_does_not_fall_back, *boost::unit_test::precondition(without_driver)) {
  const auto a = Matrix<float>::identity(4);
  BOOST_CHECK_EXCEPTION(gemm(a, a, Backend::Cuda), BackendUnavailable,
                        [](const Error& error) { return contains(error.what(), "no NVIDIA driver"); });
}

BOOST_AUTO_TEST_CASE(old_driver, *boost::unit_test::precondition(in_environment("FAKE_DRIVER_VERSION", "12040"))) {
  check_unusable(cuda_plugin().probe(), StatusCode::Unavailable,
                 "too old: it supports CUDA 12.4, this plug-in needs CUDA", "update the driver");
}

BOOST_AUTO_TEST_CASE(driver_without_devices,
                     *boost::unit_test::precondition(in_environment("FAKE_DRIVER_INIT", "100"))) {
  unsetenv("CUDA_VISIBLE_DEVICES");
  check_unusable(cuda_plugin().probe(), StatusCode::Unavailable, "CUDA 99.0) shows no device", "nvidia-smi");
}

BOOST_AUTO_TEST_CASE(driver_that_fails, *boost::unit_test::precondition(in_environment("FAKE_DRIVER_INIT", "999"))) {
  check_unusable(cuda_plugin().probe(), StatusCode::Unavailable, "cannot list its devices", "cudaError");
}

/// In the child of a process that has used CUDA, cuInit() returns 3.
BOOST_AUTO_TEST_CASE(driver_after_a_fork, *boost::unit_test::precondition(in_environment("FAKE_DRIVER_INIT", "3"))) {
  check_unusable(cuda_plugin().probe(), StatusCode::Unavailable,
                 "if this process was forked from one that had used CUDA", "start it as a new program");
}

BOOST_AUTO_TEST_CASE(hidden_devices, *boost::unit_test::precondition(in_environment("CUDA_VISIBLE_DEVICES", "-1"))) {
  check_unusable(cuda_plugin().probe(), StatusCode::Unavailable, "no device", "CUDA_VISIBLE_DEVICES is '-1'");
}

BOOST_AUTO_TEST_CASE(a_device_that_is_no_number) {
  for (const char* garbage : {"first", "-1", "1x", " 0", "0.5", "99999999999999999999"}) {
    const Environment device("TESSERA_CUDA_DEVICE", garbage);
    check_unusable(cuda_plugin().probe(), StatusCode::InvalidArgument,
                   "TESSERA_CUDA_DEVICE = '" + std::string(garbage) + "'", "set a whole number from 0 on");
    BOOST_TEST(contains(cuda_plugin().probe().why, "this machine has "));
  }
}

BOOST_AUTO_TEST_CASE(an_empty_device_is_none) {
  const Environment device("TESSERA_CUDA_DEVICE", "");
  BOOST_TEST(!contains(cuda_plugin().probe().why, "TESSERA_CUDA_DEVICE"));
}

BOOST_AUTO_TEST_CASE(a_memory_limit_that_is_no_amount) {
  for (const char* garbage : {"lots", "0", "-5", "12Q", "5 M", "99999999999999999999", "18446744073709551615G"}) {
    const Environment limit("TESSERA_CUDA_MEMORY_LIMIT", garbage);
    OwnExecutor executor;
    check_unusable(create_own(executor), StatusCode::InvalidArgument,
                   "TESSERA_CUDA_MEMORY_LIMIT = '" + std::string(garbage) + "'", "such as 512M");
    BOOST_TEST(!executor);
  }
}
