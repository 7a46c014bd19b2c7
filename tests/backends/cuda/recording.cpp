/// Tests that kernels that are recorded and replayed give the bits of a plain run, and that work that cannot be
/// recorded fails with a message.

#include <vector>

#include <boost/test/unit_test.hpp>

#include <tessera/backend/device_state.hpp>
#include <tessera/performance/recording.hpp>
#include <tessera/tessera.hpp>

#include "recorded_products.hpp"

using namespace tessera;
using namespace tessera::cuda_test;

namespace {

void check_kernel(Executor& device, const GemmKernel& kernel, Index m, Index n, Index k) {
  const Operands x(device, kernel.type, m, n, k);
  Products products;
  products.push_back(product_of(device, x, kernel));
  if (products.front() != nullptr) check_replays(device, products);
}

} // namespace

BOOST_AUTO_TEST_SUITE(recording)

/// Records all kernels, so also the kernels with scratch memory, tensor maps, clusters and the vendor's kernels.
BOOST_AUTO_TEST_CASE(a_replay_has_the_bits_of_a_run) {
  Executor& device = executor(Backend::Cuda);
  for (const GemmKernel& kernel : device.gemm_kernels())
    BOOST_TEST_CONTEXT(kernel.name << " " << to_string(kernel.type) << " " << to_string(kernel.math)) {
      check_kernel(device, kernel, 300, 264, 1500);
      check_kernel(device, kernel, 16, 1000, 2100); // in slices of k (split-k)
      check_kernel(device, kernel, 40, 24, 9000);   // in many slices
      check_kernel(device, kernel, 12, 4100, 2100); // in clusters, slender's in f32 too
      if (kernel.name == std::string_view("stream_k"))
        check_kernel(device, kernel, 1024, 1664, 5000); // f64: in a chain
    }
}

/// Records a strided batch, and a batch with arrays of pointers that are gone when the recording is replayed.
BOOST_AUTO_TEST_CASE(batches_are_recorded) {
  Executor& device = executor(Backend::Cuda);
  Queue& queue = device.default_queue();
  constexpr Index side = 24, count = 700;
  OnDevice a(device, DType::F32, count * side, side), b(device, DType::F32, count * side, side);
  OnDevice c(device, DType::F32, count * side, side);
  a.fill_randomly(1);
  b.fill_randomly(2);
  GemmBatch batch{.call = {{.type = DType::F32,
                            .m = side,
                            .n = side,
                            .k = side,
                            .a = a.data(),
                            .lda = side,
                            .b = b.data(),
                            .ldb = side,
                            .c = c.data(),
                            .ldc = side}},
                  .count = count,
                  .stride_a = side * side,
                  .stride_b = side * side,
                  .stride_c = side * side};
  check_ok(device.gemm_batch(queue, {&batch, 1}));
  const std::vector<std::byte> expected = c.bytes();
  for (const bool with_pointers : {false, true}) {
    std::vector<const void*> all_a, all_b;
    std::vector<void*> all_c;
    for (Index i = 0; i < count; ++i) {
      const GemmCall one = batch.product(i);
      all_a.push_back(one.a);
      all_b.push_back(one.b);
      all_c.push_back(one.c);
    }
    GemmBatch recorded = batch;
    if (with_pointers) {
      recorded.a = all_a.data();
      recorded.b = all_b.data();
      recorded.c = all_c.data();
    }
    c.fill_with_nan();
    std::unique_ptr<Recording> recording;
    check_ok(record(
        queue,
        [&] {
          return device.gemm_batch(queue, {&recorded, 1});
        },
        recording));
    BOOST_REQUIRE(recording != nullptr);
    std::fill(all_a.begin(), all_a.end(), nullptr);
    std::fill(all_b.begin(), all_b.end(), nullptr);
    std::fill(all_c.begin(), all_c.end(), nullptr);
    for (int replay = 0; replay < 2; ++replay) {
      c.fill_with_nan();
      check_ok(recording->replay(queue));
      BOOST_TEST((c.bytes() == expected), "replay " << replay << ", pointers: " << with_pointers);
    }
  }
}

BOOST_AUTO_TEST_CASE(waiting_cannot_be_recorded_and_the_queue_goes_on) {
  Executor& device = executor(Backend::Cuda);
  Queue& queue = device.default_queue();
  std::unique_ptr<Recording> recording;
  BOOST_TEST(!record(
                  queue, [&] { return queue.synchronize(); }, recording)
                  .ok());
  BOOST_TEST(recording == nullptr);
  check_ok(queue.synchronize());
  const Matrix<float> a = Matrix<float>::random(50, 50, Seed{1});
  BOOST_TEST((gemm(a, a, Backend::Cuda) == gemm(a, a, Backend::Reference)));
}

BOOST_AUTO_TEST_CASE(a_device_that_tells_its_state_runs_at_some_clock) {
  DeviceState state;
  if (!read_device_state(executor(Backend::Cuda), state).ok()) return; // This machine has no NVML.
  BOOST_TEST(!(state.sm_mhz <= 0));
  BOOST_TEST(!(state.power_w <= 0));
}

BOOST_AUTO_TEST_SUITE_END()
