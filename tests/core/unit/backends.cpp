#include <tessera/backend.hpp>

#include <algorithm>
#include <string_view>

#include <boost/test/unit_test.hpp>

#include "support/expect.hpp"

using namespace tessera;
using tessera::test::expect_error;

BOOST_AUTO_TEST_SUITE(backends)

BOOST_AUTO_TEST_CASE(the_reference_is_always_there) {
  BOOST_TEST(executor(Backend::Reference).capabilities().host_memory);
  BOOST_TEST((executor(Backend::Reference).capabilities().backend == Backend::Reference));
  BOOST_TEST(&executor(Backend::Reference) == &executor(Backend::Reference));
  BOOST_TEST(!gemm_kernels(Backend::Reference).empty());
  BOOST_TEST(!reduce_kernels(Backend::Reference).empty());
}

BOOST_AUTO_TEST_CASE(every_backend_is_listed_with_a_reason_if_it_is_absent) {
  const std::vector<BackendInfo> all = available_backends();
  BOOST_TEST(all.size() == built_in_backends.size());
  for (const BackendInfo& info : all) {
    BOOST_TEST(info.reason.empty() == info.available, to_string(info.backend) << ": " << info.reason);
    BOOST_TEST((info.built || !info.available));
    if (!info.available)
      expect_error<BackendUnavailable>([&] { static_cast<void>(executor(info.backend)); },
                                       {to_string(info.backend), info.reason});
  }
}

BOOST_AUTO_TEST_CASE(the_list_says_whose_memory_a_backend_computes_in) {
  for (const BuiltInBackend& line : built_in_backends) BOOST_TEST((memory_of(line.backend) == line.memory));
  for (const BackendInfo& info : available_backends())
    if (info.available)
      BOOST_TEST(executor(info.backend).capabilities().host_memory == (memory_of(info.backend) == Memory::Host));
}

BOOST_AUTO_TEST_CASE(auto_is_the_first_one_available) {
  const std::vector<BackendInfo> all = available_backends();
  const auto first = std::ranges::find_if(all, &BackendInfo::available);
  BOOST_TEST(&executor(Backend::Auto) == &executor(first->backend));
  BOOST_TEST(gemm_kernels(Backend::Auto).data() == executor(first->backend).gemm_kernels().data());
  BOOST_TEST(!reduce_kernels(Backend::Auto).empty());
}

BOOST_AUTO_TEST_CASE(a_number_that_is_no_backend_is_refused) {
  for (const int number : {-1, static_cast<int>(built_in_backends.size()) + 1, 99}) {
    const auto backend = static_cast<Backend>(number);
    expect_error<InvalidArgument>([&] { static_cast<void>(memory_of(backend)); }, {std::to_string(number)});
    expect_error<InvalidArgument>([&] { static_cast<void>(executor(backend)); }, {std::to_string(number)});
    expect_error<InvalidArgument>([&] { static_cast<void>(gemm_kernels(backend)); }, {std::to_string(number)});
    expect_error<InvalidArgument>([&] { static_cast<void>(reduce_kernels(backend)); }, {std::to_string(number)});
  }
}

BOOST_AUTO_TEST_CASE(kernels_are_named_once_and_described) {
  for (const BackendInfo& info : available_backends()) {
    const auto kernels = gemm_kernels(info.backend);
    for (const GemmKernel& kernel : kernels) {
      BOOST_TEST(!std::string_view(kernel.name).empty());
      BOOST_TEST(!std::string_view(kernel.summary).empty(), kernel.name << " has no summary");
      BOOST_TEST(!std::string_view(kernel.source).empty(), kernel.name << " names no source");
      const auto twins = std::ranges::count_if(kernels, [&](const GemmKernel& other) {
        return std::string_view(other.name) == kernel.name && other.type == kernel.type && other.math == kernel.math;
      });
      BOOST_TEST(twins == 1,
                 kernel.name << " stands " << twins << " times in the ladder of " << to_string(info.backend));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
