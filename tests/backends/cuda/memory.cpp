/// Tests running out of memory on purpose, giving memory back, and devices that are not there.

#include <cuda_runtime_api.h>

#include <string>

#include <tessera/tessera.hpp>

#include "cuda_plugin.hpp"
#include "limit.hpp"
#include "round_trip.hpp"

using namespace tessera;
using namespace tessera::cuda_test;

namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::size_t free_memory() {
  std::size_t free = 0;
  std::size_t total = 0;
  BOOST_REQUIRE(cudaMemGetInfo(&free, &total) == cudaSuccess);
  return free;
}

void check_out_of_memory(Executor& executor, std::size_t bytes, const std::string& reason) {
  int something = 0;
  void* memory = &something;
  const Status status = executor.allocate(bytes, memory);
  BOOST_TEST_CONTEXT(status.why) {
    BOOST_TEST(static_cast<int>(status.code) == static_cast<int>(StatusCode::OutOfMemory));
    BOOST_TEST(memory == nullptr);
    BOOST_TEST(contains(status.why, std::to_string(bytes)));
    BOOST_TEST(contains(status.why, reason));
  }
}

} // namespace

BOOST_AUTO_TEST_SUITE(memory)

BOOST_AUTO_TEST_CASE(the_limit_is_kept_and_what_is_freed_counts_no_more) {
  const Environment limit("TESSERA_CUDA_MEMORY_LIMIT", "64M");
  OwnExecutor executor;
  check_ok(create_own(executor));
  void* most = nullptr;
  check_ok(executor->allocate(48 * mebi, most));
  check_out_of_memory(*executor, 32 * mebi, "TESSERA_CUDA_MEMORY_LIMIT");
  check_usable(*executor);
  executor->free(most);
  void* all = nullptr;
  check_ok(executor->allocate(64 * mebi, all));
  check_out_of_memory(*executor, 1, "TESSERA_CUDA_MEMORY_LIMIT");
  executor->free(all);
}

/// The queue keeps stream_k's signals (signals.hpp), here for a product whose tiles are cut.
BOOST_AUTO_TEST_CASE(what_a_queue_keeps_for_itself_does_not_count) {
  const Environment limit("TESSERA_CUDA_MEMORY_LIMIT", "64M");
  OwnExecutor executor;
  check_ok(create_own(executor));
  constexpr Index side = 1500;
  Queue& queue = executor->default_queue();
  void* memory = nullptr;
  check_ok(executor->allocate(3 * side * side * sizeof(float), memory));
  auto* const operands = static_cast<float*>(memory);
  check_ok(executor->random(queue, {.rows = 2 * side, .cols = side, .z = operands, .ldz = side}));
  const GemmCall call{{.m = side,
                       .n = side,
                       .k = side,
                       .a = operands,
                       .lda = side,
                       .b = operands + side * side,
                       .ldb = side,
                       .c = operands + 2 * side * side,
                       .ldc = side}};
  const Status status = executor->gemm(queue, call, "stream_k");
  BOOST_TEST((status.ok() || status.code == StatusCode::Rejected));
  check_ok(queue.synchronize());
  executor->free(memory);
  void* all = nullptr;
  check_ok(executor->allocate(64 * mebi, all));
  executor->free(all);
}

BOOST_AUTO_TEST_CASE(more_than_the_device_has) {
  const Environment limit("TESSERA_CUDA_MEMORY_LIMIT", nullptr);
  OwnExecutor executor;
  check_ok(create_own(executor));
  check_out_of_memory(*executor, 2 * executor->capabilities().memory_bytes, "bytes are free");
  check_usable(*executor);
}

BOOST_AUTO_TEST_CASE(a_product_that_does_not_fit_goes_through_in_blocks) {
  const Index n = 6144; // C has 144 MiB and the operands have 70 MiB each. Not all of them fit.
  static_assert(2 * 6144ull * 6144 * 4 > memory_limit && 6144ull * 6144 * 4 < memory_limit);
  const auto a = Matrix<float>::random(n, 3000, Seed{1});
  const auto b = Matrix<float>::random(3000, n, Seed{2});
  const auto before = Matrix<float>::random(n, n, Seed{3});
  for (const float beta : {0.0f, 0.75f}) {
    Matrix<float> c = before, expected = before;
    gemm(-1.5f, a, b, beta, c, {.backend = Backend::Cuda});
    gemm(-1.5f, a, b, beta, expected, {.backend = Backend::Tbb});
    BOOST_TEST((c == expected), "beta " << beta);
  }
}

BOOST_AUTO_TEST_CASE(a_product_without_room_for_blocks_throws_and_the_next_one_works) {
  const auto small = Matrix<float>::random(300, 300, Seed{1});
  const auto before = gemm(small, small, Backend::Cuda);
  Executor& cuda = executor(Backend::Cuda);
  void* most = nullptr;
  check_ok(cuda.allocate(memory_limit - 2 * mebi, most));
  {
    const auto a = Matrix<float>(2000, 2000, 1.0f);
    const auto b = Matrix<float>(2000, 2000, 2.0f);
    Matrix<float> c(2000, 2000, 3.0f);
    BOOST_CHECK_THROW(gemm(1.0f, a, b, 1.0f, c, {.backend = Backend::Cuda}), OutOfMemory);
    BOOST_TEST((c == Matrix<float>(2000, 2000, 3.0f)));
    BOOST_TEST(std::as_const(a)(1999, 1999) == 1.0f);
    BOOST_TEST((gemm(small, small, Backend::Cuda) == before));
  }
  // All of the memory was given back.
  cuda.free(most);
  check_ok(cuda.allocate(200 * mebi, most));
  cuda.free(most);
}

BOOST_AUTO_TEST_CASE(an_executor_gives_everything_back) {
  const Environment limit("TESSERA_CUDA_MEMORY_LIMIT", "512M");
  const auto live_and_die = [] {
    OwnExecutor executor;
    check_ok(create_own(executor));
    std::vector<char> host(8 * mebi, 'x');
    void* large = nullptr;
    void* staged = nullptr;
    check_ok(executor->allocate(256 * mebi, large));
    check_ok(executor->allocate(host.size(), staged));
    check_ok(
        executor->copy_in(executor->default_queue(), staged, host.size(), host.data(), host.size(), host.size(), 1));
    check_out_of_memory(*executor, 512 * mebi, "TESSERA_CUDA_MEMORY_LIMIT");
    check_usable(*executor);
    std::unique_ptr<Queue> queue;
    check_ok(executor->create_queue(queue));
    executor->free(large); // The executor frees `staged`.
  };
  live_and_die(); // The first executor loads code that stays.
  const std::size_t before = free_memory();
  for (int i = 0; i < 3; ++i) live_and_die();
  BOOST_TEST(free_memory() >= before);
}

BOOST_AUTO_TEST_CASE(devices_that_are_not_there) {
  OwnExecutor executor;
  int count = 0;
  BOOST_REQUIRE(cudaGetDeviceCount(&count) == cudaSuccess);
  const std::string how_many = "this machine has " + std::to_string(count) + " CUDA device";
  const Status by_option = create_own(executor, 99);
  BOOST_TEST(static_cast<int>(by_option.code) == static_cast<int>(StatusCode::Unavailable));
  BOOST_TEST(contains(by_option.why, "ExecutorOptions.device = 99"), by_option.why);
  BOOST_TEST(contains(by_option.why, how_many), by_option.why);
  BOOST_TEST(!executor);
  const Environment device("TESSERA_CUDA_DEVICE", std::to_string(count).c_str());
  const Status by_variable = cuda_plugin().probe();
  BOOST_TEST(static_cast<int>(by_variable.code) == static_cast<int>(StatusCode::Unavailable));
  BOOST_TEST(contains(by_variable.why, "TESSERA_CUDA_DEVICE = " + std::to_string(count)), by_variable.why);
  BOOST_TEST(contains(by_variable.why, how_many), by_variable.why);
  check_ok(create_own(executor, count - 1)); // The variable does not matter if a device is asked for by number.
  check_usable(*executor);
}

BOOST_AUTO_TEST_SUITE_END()
