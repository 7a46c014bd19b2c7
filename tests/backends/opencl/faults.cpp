/// What the backend says of loaders, platforms and devices that lack something. CTest runs each case in the environment
/// that has the fault.

#include "support.hpp"
#include "support/expect.hpp"

using namespace tessera;
using namespace tessera::opencl_test;
using test::contains;

namespace {

/// Checks that the backend cannot be used, and that the reason has all the parts.
void check_unavailable(const std::vector<std::string>& parts) {
  const BackendInfo found = info();
  BOOST_TEST(found.built);
  BOOST_TEST(!found.available);
  for (const std::string& part : parts) BOOST_TEST(contains(found.reason, part), found.reason << " lacks " << part);
  BOOST_CHECK_THROW(executor(Backend::OpenCl), BackendUnavailable);
}

/// Multiplies two small matrices on the device.
template <class T>
Status product() {
  Executor& device = executor(Backend::OpenCl);
  const OnDevice<T> a(device, counted<T>(12)), b(device, counted<T>(12)), c(device, counted<T>(9));
  return device.gemm(device.default_queue(), {{.type = dtype_of<T>,
                                               .m = 3,
                                               .n = 3,
                                               .k = 4,
                                               .a = a.data(),
                                               .lda = 4,
                                               .b = b.data(),
                                               .ldb = 3,
                                               .c = c.data(),
                                               .ldc = 3}});
}

/// Checks that the product is refused, and that the reason has all the parts.
template <class T>
void check_refused(StatusCode code, const std::vector<std::string>& parts) {
  const Status status = product<T>();
  BOOST_TEST(static_cast<int>(status.code) == static_cast<int>(code), status.why);
  for (const std::string& part : parts) BOOST_TEST(contains(status.why, part), status.why << " lacks " << part);
}

} // namespace

BOOST_AUTO_TEST_SUITE(faults)

BOOST_AUTO_TEST_CASE(no_loader) {
  check_unavailable({"no OpenCL loader", "TESSERA_OPENCL_LIBRARY = '/nonexistent/libOpenCL.so.1'", "unset it"});
}

BOOST_AUTO_TEST_CASE(no_platform) { check_unavailable({"no platform", "CL_PLATFORM_NOT_FOUND_KHR", "install"}); }

BOOST_AUTO_TEST_CASE(no_device) { check_unavailable({"no device", "clinfo"}); }

BOOST_AUTO_TEST_CASE(no_compiler) { check_unavailable({"no OpenCL device can be used", "no compiler", "install"}); }

BOOST_AUTO_TEST_CASE(not_available) { check_unavailable({"no OpenCL device can be used", "not available"}); }

BOOST_AUTO_TEST_CASE(no_f64) {
  if (!has_device()) return;
  const Status narrow = product<float>();
  BOOST_TEST(narrow.ok(), narrow.why);
  check_refused<double>(StatusCode::Unavailable, {"no f64", "cl_khr_fp64", "use f32"});
  Executor& device = executor(Backend::OpenCl);
  const OnDevice<double> z(device, 9);
  const Status fill = device.map(
      device.default_queue(), {.op = MapOp::Fill, .type = DType::F64, .rows = 3, .cols = 3, .z = z.data(), .ldz = 3});
  BOOST_TEST(static_cast<int>(fill.code) == static_cast<int>(StatusCode::Unavailable));
  BOOST_TEST(contains(fill.why, "no f64"), fill.why);
}

BOOST_AUTO_TEST_CASE(no_subnormals) {
  if (!has_device()) return;
  check_refused<float>(StatusCode::Unavailable, {"no subnormal numbers in f32", "another device"});
  const Status wide = product<double>();
  BOOST_TEST(wide.ok(), wide.why);
}

/// The faulty compiler rounds a multiply-add twice.
BOOST_AUTO_TEST_CASE(other_bits) {
  if (!has_device()) return;
  check_refused<float>(StatusCode::Unavailable, {"known strict product in f32", "other bits", "update its driver"});
  check_refused<double>(StatusCode::Unavailable, {"known strict product in f64", "other bits"});
}

BOOST_AUTO_TEST_CASE(compiler_fails) {
  if (!has_device()) return;
  check_refused<float>(StatusCode::DeviceError,
                       {"the compiler of", "02_naive_coalesced.cl", "CL_BUILD_PROGRAM_FAILURE"});
}

/// The variable names a device by its number or by a part of its name. A device that is asked for by its number has an
/// executor of its own.
BOOST_AUTO_TEST_CASE(devices_by_word) {
  if (!has_device()) return;
  const Capabilities machine = executor(Backend::OpenCl).capabilities();
  BOOST_TEST(&executor(Backend::OpenCl, machine.device_index) == &executor(Backend::OpenCl));
  BOOST_TEST(&executor(Backend::OpenCl, machine.device_index, 1) != &executor(Backend::OpenCl));
  try {
    executor(Backend::OpenCl, 99);
    BOOST_ERROR("there is a device 99");
  } catch (const BackendUnavailable& error) {
    BOOST_TEST(contains(error.what(), "99 names no device"), error.what());
    BOOST_TEST(contains(error.what(), machine.device), error.what());
  }
  // An executor of another number reads the variable no more: a number of the program's goes before it.
  BOOST_TEST(executor(Backend::OpenCl, machine.device_index).capabilities().device == machine.device);
}

BOOST_AUTO_TEST_CASE(all_processors) {
  if (!has_device()) return;
  BOOST_TEST((executor(Backend::Auto).capabilities().backend != Backend::OpenCl));
  BOOST_TEST(!info().serves_auto);
}

BOOST_AUTO_TEST_CASE(all_gpus) {
  if (!has_device()) return;
  BOOST_TEST(info().serves_auto);
  const Backend chosen = executor(Backend::Auto).capabilities().backend;
  BOOST_TEST((chosen == Backend::OpenCl || chosen == Backend::Cuda));
}

/// The limit is 2 MiB. A product that needs more is computed in parts, with the bits of the whole one.
BOOST_AUTO_TEST_CASE(memory_limit) {
  if (!has_device()) return;
  Executor& device = executor(Backend::OpenCl);
  void* memory = nullptr;
  for (int turn = 0; turn < 3; ++turn) { // what was freed is there again
    const OnDevice<char> most(device, std::size_t{2} << 20);
    const Status status = device.allocate(1, memory);
    BOOST_TEST(static_cast<int>(status.code) == static_cast<int>(StatusCode::OutOfMemory));
    BOOST_TEST(contains(status.why, "2097152 of the 2097152 bytes that TESSERA_OPENCL_MEMORY_LIMIT allows"),
               status.why);
  }
  const auto a = Matrix<float>::random(500, 700, Seed{1}), b = Matrix<float>::random(700, 600, Seed{2});
  BOOST_TEST((gemm(a, b, Backend::OpenCl) == gemm(a, b, Backend::Reference)));
}

/// Memory that products used for themselves is kept for the next ones, until a matrix needs it.
BOOST_AUTO_TEST_CASE(kept_memory_makes_room) {
  if (!has_device()) return;
  Executor& device = executor(Backend::OpenCl);
  for (int turn = 0; turn < 3; ++turn) {
    {
      const auto a = Matrix<float>::random(60, 2100, Seed{1}), b = Matrix<float>::random(2100, 60, Seed{2});
      const GemmOptions segments{.backend = Backend::OpenCl, .kernel = "segmented"};
      BOOST_TEST((gemm(a, b, segments) == gemm(a, b, Backend::Reference)));
    }
    const OnDevice<char> most(device, std::size_t{2} << 20);
    BOOST_TEST(most.data() != nullptr);
  }
}

/// The device allows 1 MiB in one allocation, and each of these matrices has more.
BOOST_AUTO_TEST_CASE(small_allocations) {
  if (!has_device()) return;
  Executor& device = executor(Backend::OpenCl);
  void* memory = nullptr;
  const Status status = device.allocate((std::size_t{1} << 20) + 1, memory);
  BOOST_TEST(static_cast<int>(status.code) == static_cast<int>(StatusCode::OutOfMemory));
  BOOST_TEST(contains(status.why, "1048576 bytes in one allocation (CL_DEVICE_MAX_MEM_ALLOC_SIZE)"), status.why);
  const auto a = Matrix<float>::random(500, 700, Seed{1}), b = Matrix<float>::random(700, 600, Seed{2});
  BOOST_TEST((gemm(a, b, Backend::OpenCl) == gemm(a, b, Backend::Reference)));
}

/// Products that a GPU packs, reads where they are, and has narrow tiles for, beside the reference.
template <class T>
void check_products(Index m, Index n, Index k) {
  const auto a = Matrix<T>::random(m, k, Seed{5}), b = Matrix<T>::random(k, n, Seed{6});
  BOOST_TEST((gemm(a, b, Backend::OpenCl) == gemm(a, b, Backend::Reference)), m << "x" << n << "x" << k);
}

void check_products_of_a_small_gpu() {
  if (!has_device()) return;
  for (const auto& [m, n, k] : {std::array<Index, 3>{390, 400, 1100}, {150, 130, 170}, {9, 200, 70}, {200, 9, 70}}) {
    check_products<float>(m, n, k);
    check_products<double>(m, n, k);
  }
}

/// A device with 1 KiB of local memory, which the embedded profile allows, computes by kernels that need less.
BOOST_AUTO_TEST_CASE(little_local_memory) {
  if (!has_device()) return;
  const auto a = Matrix<float>::random(150, 170, Seed{1}), b = Matrix<float>::random(170, 130, Seed{2});
  BOOST_TEST((gemm(a, b, Backend::OpenCl) == gemm(a, b, Backend::Reference)));
  const auto c = Matrix<double>::random(150, 170, Seed{3}), d = Matrix<double>::random(170, 130, Seed{4});
  BOOST_TEST((gemm(c, d, Backend::OpenCl) == gemm(c, d, Backend::Reference)));
}

/// A GPU that spills the registers of every tile computes by the smallest one.
BOOST_AUTO_TEST_CASE(spills) { check_products_of_a_small_gpu(); }

/// A GPU that has registers for 64 work-items of a group takes tiles of so many.
BOOST_AUTO_TEST_CASE(few_registers) { check_products_of_a_small_gpu(); }

BOOST_AUTO_TEST_CASE(lost_at_launch) {
  if (!has_device()) return;
  check_refused<float>(StatusCode::DeviceError, {"launch of", "CL_DEVICE_NOT_AVAILABLE", "lost", "start it again"});
}

BOOST_AUTO_TEST_CASE(lost_at_work) {
  if (!has_device()) return;
  Executor& device = executor(Backend::OpenCl);
  const Status status = device.default_queue().synchronize();
  BOOST_TEST(static_cast<int>(status.code) == static_cast<int>(StatusCode::DeviceError));
  for (const char* part : {"waiting for a queue's work", "CL_OUT_OF_RESOURCES", "smaller product", "start it again"})
    BOOST_TEST(contains(status.why, part), status.why << " lacks " << part);
}

/// A matrix whose elements are on a lost device says so when they are read, and each time.
BOOST_AUTO_TEST_CASE(lost_at_copy) {
  if (!has_device()) return;
  const auto a = Matrix<float>::random(20, 20, Seed{1});
  for (int turn = 0; turn < 2; ++turn) try {
      static_cast<void>(gemm(a, a, Backend::OpenCl)(3, 4));
      BOOST_ERROR("the result of a lost device was read");
    } catch (const DeviceError& error) {
      BOOST_TEST(contains(error.what(), "CL_DEVICE_NOT_AVAILABLE"), error.what());
      BOOST_TEST(contains(error.what(), "start it again"), error.what());
    }
}

/// Two drivers whose files are broken, alone.
BOOST_AUTO_TEST_CASE(broken_drivers) { check_unavailable({"no platform", "install", "/etc/OpenCL/vendors"}); }

/// The same beside a whole one, which is used.
BOOST_AUTO_TEST_CASE(broken_driver_beside) {
  if (!has_device()) return;
  const Status status = product<float>();
  BOOST_TEST(status.ok(), status.why);
}

BOOST_AUTO_TEST_CASE(hidden_by_number) {
  check_unavailable({"TESSERA_OPENCL_DEVICE = 77 names no device", "OpenCL shows device 0 ("});
}

BOOST_AUTO_TEST_CASE(hidden_by_name) {
  check_unavailable({"TESSERA_OPENCL_DEVICE = 'Radeon of nowhere'", "neither the number", "OpenCL shows device 0 ("});
}

BOOST_AUTO_TEST_CASE(wrong_cache) { check_unavailable({"TESSERA_OPENCL_CACHE = 'some'", "none", "all", "unset it"}); }

BOOST_AUTO_TEST_CASE(wrong_svm) { check_unavailable({"TESSERA_OPENCL_SVM = 'off'", "none", "unset it"}); }

BOOST_AUTO_TEST_CASE(wrong_memory_limit) { check_unavailable({"TESSERA_OPENCL_MEMORY_LIMIT = '12Q'", "512M"}); }

BOOST_AUTO_TEST_SUITE_END()
