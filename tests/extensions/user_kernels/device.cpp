/// The way to device code, on a stand-in device: the plug-in of a program is found, checked and called, and what is
/// missing or wrong is told apart. Each case runs in a process of its own with folders of its own.

#include <dlfcn.h>
#include <cmath>
#include <cstdlib>
#include <set>
#include <string>

#include <boost/test/unit_test.hpp>

#include <tessera/backend.hpp>

#include "support/expect.hpp"
#include "support/short_of_memory.hpp"

#include "device.hpp"
#include "terms.hpp"

namespace tessera::test {
namespace {

/// Runs saxpy on the stand-in and returns an element of the result.
float run_saxpy() {
  Executor& device = executor(Backend::Cuda);
  const Matrix<float> x(3, 20, 2.0f);
  Matrix<float> y(3, 20, 1.0f);
  for_each(device, 3, 20, Saxpy{read(x, device), update(y, device), 3.0f});
  BOOST_TEST(y.newest_on() == &device);
  return y.at(2, 19);
}

void expect_unavailable(std::initializer_list<std::string_view> parts) {
  expect_error<BackendUnavailable>([] { run_saxpy(); }, {"functor 'saxpy' cannot run on cuda"});
  expect_error<BackendUnavailable>([] { run_saxpy(); }, parts); // the same answer again
}

BOOST_AUTO_TEST_SUITE(device)

BOOST_AUTO_TEST_CASE(works) {
  BOOST_TEST(run_saxpy() == 7.0f);
  Executor& cuda = executor(Backend::Cuda);
  const Matrix<float> x(40, 50, 2.0f);
  BOOST_TEST(sum(cuda, 40, 50, Square{read(x, cuda)}) == 8000.0);
}

BOOST_AUTO_TEST_CASE(missing_file) {
  expect_unavailable({"no libstandin_kernels_cuda.so in ", "where nvcc is", "tessera_add_kernels()"});
}
BOOST_AUTO_TEST_CASE(built_without) {
  expect_error<BackendUnavailable>([] { run_without_plugin(); }, {"functor 'fill' cannot run on cuda", "built without",
                                                                  "tessera_add_kernels(<program>"});
}
BOOST_AUTO_TEST_CASE(wrong_abi) {
  const std::string there = "plug-in ABI " + std::to_string(kernel_table_abi + 1);
  const std::string here = "has ABI " + std::to_string(kernel_table_abi);
  expect_unavailable({there, here, "rebuild"});
}
BOOST_AUTO_TEST_CASE(wrong_size) { expect_unavailable({"its KernelTable has", "rebuild"}); }
BOOST_AUTO_TEST_CASE(wrong_tag) { expect_unavailable({"another-standard-library", "same compiler family"}); }
BOOST_AUTO_TEST_CASE(no_symbol) { expect_unavailable({"does not export tessera_user_kernels"}); }
BOOST_AUTO_TEST_CASE(null_table) { expect_unavailable({"it has no table"}); }
BOOST_AUTO_TEST_CASE(not_a_library) { expect_unavailable({"cannot load"}); }
BOOST_AUTO_TEST_CASE(no_functors) { expect_unavailable({"no functor of this name", "add it to TESSERA_CUDA_KERNELS"}); }
BOOST_AUTO_TEST_CASE(other_functor) {
  const std::string there = std::to_string(sizeof(Saxpy) + 8), here = std::to_string(sizeof(Saxpy));
  expect_unavailable({"another functor of this name", there, here, "compile both from one header"});
}
BOOST_AUTO_TEST_CASE(launch_fails) {
  expect_error<DeviceError>([] { run_saxpy(); }, {"launch of user kernel 'saxpy'", "the stand-in failed"});
}

BOOST_AUTO_TEST_CASE(another_operation) {
  Executor& cuda = executor(Backend::Cuda);
  const Matrix<float> x(4, 4, 2.0f);
  expect_error<BackendUnavailable>([&] { max(cuda, 4, 4, Square{read(x, cuda)}); },
                                   {"square", "not for this operation"});
  expect_error<BackendUnavailable>([&] { sum(cuda, 4, 4, Values<float>{read(x, cuda)}); },
                                   {"values f32", "no functor of this name", "nearest"});
}

/// Between a view and its functor, a product of another thread lacks memory.
BOOST_AUTO_TEST_CASE(a_view_stays) { // SMALL_DEVICE is set
  Executor& cuda = executor(Backend::Cuda);
  const Matrix<float> x = Matrix<float>::random(64, 64, Seed{1});
  Matrix<float> y(64, 64, 1.0f);
  while_another_lacks_memory(x, tools::Kind::Verify, [&](Meeting& meeting) {
    const Saxpy saxpy{read(x, cuda), update(y, cuda), 3.0f};
    meeting.interrupt();
    for_each(cuda, 64, 64, saxpy);
  });
  int wrong = 0;
  for (Index i = 0; i < 64; ++i)
    for (Index j = 0; j < 64; ++j) wrong += y.at(i, j) == std::fma(3.0f, x.at(i, j), 1.0f) ? 0 : 1;
  BOOST_TEST(wrong == 0);
}

BOOST_AUTO_TEST_CASE(views_of_another_executor) {
  Executor &cuda = executor(Backend::Cuda), &host = executor(Backend::Reference);
  const Matrix<float> x(4, 4, 2.0f);
  expect_error<InvalidArgument>([&] { sum(cuda, 4, 4, Square{read(x, host)}); },
                                {"functor 'square' runs on cuda", "reference's memory", "In, 4×4"});
  expect_error<InvalidArgument>([&] { sum(host, 4, 4, Square{read(x, cuda)}); },
                                {"functor 'square' runs on reference", "cuda's memory"});
}

BOOST_AUTO_TEST_CASE(compiled_by_nvcc) { // with nvcc and without a GPU: the plug-in loads and lists its functors
  void* const library = dlopen(std::getenv("KERNELS_FILE"), RTLD_NOW | RTLD_LOCAL);
  BOOST_REQUIRE_MESSAGE(library != nullptr, dlerror());
  const auto entry = reinterpret_cast<KernelTableFunction>(dlsym(library, kernel_table_function_name));
  BOOST_REQUIRE(entry != nullptr);
  const KernelTable& table = *entry();
  BOOST_TEST(table.struct_size == sizeof(KernelTable));
  BOOST_TEST(table.abi_version == kernel_table_abi);
  std::set<std::string> names;
  for (std::size_t i = 0; i < table.count; ++i) {
    names.insert(table.entries[i].name);
    if (table.entries[i].name == std::string("saxpy")) {
      BOOST_TEST(table.entries[i].size == sizeof(Saxpy));
      BOOST_TEST(table.entries[i].alignment == alignof(Saxpy));
      BOOST_TEST(table.entries[i].launch({.dimensions = 1, .device = 0}) != 0); // saxpy has two indices
    }
  }
  BOOST_TEST(names.size() == table.count);
  BOOST_TEST(names.contains("pair_of/add_pairs"));
  BOOST_TEST(names.contains("inclusive_scan i64"));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace tessera::test
