/// Recorded kernels need memory besides their operands. It is the recording's, and the next kernel uses it again with
/// nothing in between. The bits of plain runs must come out, and the memory limit must hold.

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <tessera/performance/recording.hpp>
#include <tessera/tessera.hpp>

#include "cuda_plugin.hpp"
#include "is_hopper.hpp"
#include "limit.hpp"
#include "recorded_products.hpp"

using namespace tessera;
using namespace tessera::cuda_test;

namespace {

constexpr std::array<std::array<Index, 3>, 3> shapes{{{300, 264, 1500}, {16, 1000, 2100}, {40, 24, 9000}}};

/// Returns the f32 products of the operands by `kernels` (names and modes), without kernels that reject the product.
Products mixed(Executor& device, const Operands& x, const std::vector<std::pair<const char*, Math>>& kernels) {
  Products products;
  for (const auto& [kernel, math] : kernels) {
    auto product = std::make_unique<RecordedProduct>(device, x, DType::F32, math, kernel);
    if (product->expect()) products.push_back(std::move(product));
  }
  BOOST_REQUIRE(!products.empty());
  return products;
}

bool fails_for_memory(Executor& device, std::size_t bytes) {
  void* memory = nullptr;
  const Status status = device.allocate(bytes, memory);
  device.free(memory);
  if (!status.ok()) BOOST_TEST(static_cast<int>(status.code) == static_cast<int>(StatusCode::OutOfMemory));
  return !status.ok();
}

/// The default queue and another one, and products for both that need scratch memory.
struct TwoQueues {
  Executor& device = executor(Backend::Cuda);
  Queue& queue = device.default_queue();
  std::unique_ptr<Queue> other;
  Operands x{device, DType::F32, 400, 372, 5500};

  TwoQueues() { check_ok(device.create_queue(other)); }
  Products in_segments() { return mixed(device, x, {{"segmented", Math::Strict}, {"stream_k", Math::Strict}}); }
};

/// The operands have 16 MiB and C has 1 MiB. The segments' sums take 4 MiB more, and 2 MiB for half of C.
constexpr Index side = 512, length = 4096;

} // namespace

BOOST_AUTO_TEST_SUITE(recorded_scratch)

/// Kernels follow one another, and each uses the memory that the last one used: for sums of segments and of slices,
/// sums that are handed on, copies of operands, packed operands and workspaces.
BOOST_AUTO_TEST_CASE(all_kernels_in_one_recording) {
  Executor& device = executor(Backend::Cuda);
  std::vector<std::unique_ptr<Operands>> operands;
  Products products;
  for (const DType type : {DType::F32, DType::F64, DType::F16, DType::BF16})
    for (const auto& [m, n, k] : shapes) {
      operands.push_back(std::make_unique<Operands>(device, type, m, n, k));
      for (const GemmKernel& kernel : device.gemm_kernels()) {
        if (kernel.type != type) continue;
        if (auto product = product_of(device, *operands.back(), kernel)) products.push_back(std::move(product));
      }
    }
  check_replays(device, products);
}

/// The products use flags, which are cleared while the kernel before ends, and each has its sums where the last product
/// had them.
BOOST_AUTO_TEST_CASE(chains_and_cut_tiles_after_one_another) {
  if (!is_hopper()) return;
  Executor& device = executor(Backend::Cuda);
  const Operands x(device, DType::F64, 1024, 1664, 5000);
  Products products;
  for (const auto& [m, n, k] : {std::array<Index, 3>{1024, 1664, 5000},
                                {1000, 1216, 1100},
                                {1001, 1601, 5000},
                                {1024, 1216, 1100},
                                {400, 370, 5000}}) {
    products.push_back(std::make_unique<RecordedProduct>(device, x, DType::F64, Math::Strict, "stream_k", m, n, k));
    BOOST_REQUIRE(products.back()->expect());
  }
  check_replays(device, products);
}

BOOST_AUTO_TEST_CASE(two_recordings_in_turns) {
  Executor& device = executor(Backend::Cuda);
  Queue& queue = device.default_queue();
  const Operands x(device, DType::F32, 400, 372, 5500), y(device, DType::F32, 301, 263, 4100);
  const std::vector<std::pair<const char*, Math>> kernels{{"stream_k", Math::Strict},
                                                          {"segmented", Math::Strict},
                                                          {"emulated_bf16x6", Math::EmulatedBf16x6},
                                                          {"scaled_fp16", Math::ScaledFp16},
                                                          {"wgmma_tf32", Math::Tf32}};
  const Products of_x = mixed(device, x, kernels), of_y = mixed(device, y, kernels);
  const auto first = recorded(queue, of_x), second = recorded(queue, of_y);
  for (int round = 0; round < 2; ++round) {
    forget(of_x);
    forget(of_y);
    check_ok(first->replay(queue));
    check_ok(of_x.front()->enqueue(queue)); // This run uses memory that is not the recordings'.
    check_ok(second->replay(queue));
    check_ok(first->replay(queue));
    check(of_x, "in turns");
    check(of_y, "in turns");
  }
}

/// The memory of a recording that is gone is given to other work; the memory of a recording that lives is not. It does
/// not matter whether the recorded queue still exists.
BOOST_AUTO_TEST_CASE(a_recording_outlives_another_one_and_its_queue) {
  Executor& device = executor(Backend::Cuda);
  Queue& queue = device.default_queue();
  const Operands x(device, DType::F32, 400, 372, 5500);
  const Products products = mixed(device, x,
                                  {{"segmented", Math::Strict},
                                   {"slender", Math::Strict},
                                   {"stream_k", Math::Strict},
                                   {"emulated_fp16x3", Math::EmulatedFp16x3}});
  auto first = recorded(queue, products);
  std::unique_ptr<Queue> other;
  check_ok(device.create_queue(other));
  const auto second = recorded(*other, products);
  check_ok(first->replay(queue));
  check_ok(queue.synchronize());
  first.reset();
  other.reset();
  OnDevice trampling(device, DType::F32, 4096, 4096);
  trampling.fill_with_nan();
  forget(products);
  check_ok(second->replay(queue));
  trampling.fill_with_nan();
  check(products, "the first recording and the queue are gone");
}

BOOST_AUTO_TEST_CASE(its_memory_counts_until_it_is_destroyed) {
  const Environment limit("TESSERA_CUDA_MEMORY_LIMIT", "24M");
  OwnExecutor device;
  check_ok(create_own(device));
  const Operands x(*device, DType::F32, side, side, length);
  Products products;
  for (int i = 0; i < 2; ++i) // The second product uses the first one's memory.
    products.push_back(
        std::make_unique<RecordedProduct>(*device, x, DType::F32, Math::Strict, "segmented", side, side / 2, length));
  if (!products.front()->expect() || !products.back()->expect()) return;
  check_ok(device->default_queue().synchronize());
  BOOST_TEST(!fails_for_memory(*device, 7 * mebi));
  std::unique_ptr<Recording> recording = recorded(device->default_queue(), products);
  BOOST_TEST(!fails_for_memory(*device, 5 * mebi));
  BOOST_TEST(fails_for_memory(*device, 6 * mebi), "what a recording holds is not counted");
  check_ok(recording->replay(device->default_queue()));
  check(products, "replayed");
  recording.reset();
  BOOST_TEST(!fails_for_memory(*device, 7 * mebi), "what a recording held still counts");
}

BOOST_AUTO_TEST_CASE(without_room_recording_fails_and_the_queue_goes_on) {
  const Environment limit("TESSERA_CUDA_MEMORY_LIMIT", "20M");
  OwnExecutor device;
  check_ok(create_own(device));
  Queue& queue = device->default_queue();
  const Operands x(*device, DType::F32, side, side, length);
  RecordedProduct large(*device, x, DType::F32, Math::Strict, "segmented");
  const GemmKernel* segmented = nullptr;
  for (const GemmKernel& kernel : device->gemm_kernels())
    if (kernel.name == std::string_view("segmented") && kernel.type == DType::F32) segmented = &kernel;
  BOOST_REQUIRE(segmented != nullptr);
  if (segmented->reject(*segmented, large.call(), device->capabilities()) != nullptr) return;
  std::unique_ptr<Recording> recording;
  const Status status = record(
      queue, [&] { return large.enqueue(queue); }, recording);
  BOOST_TEST(static_cast<int>(status.code) == static_cast<int>(StatusCode::OutOfMemory));
  BOOST_TEST(recording == nullptr);
  BOOST_TEST(!fails_for_memory(*device, 3 * mebi), "a recording that failed holds memory");
  check_usable(*device);
  Products small;
  small.push_back(
      std::make_unique<RecordedProduct>(*device, x, DType::F32, Math::Strict, "segmented", 100, 90, length));
  BOOST_REQUIRE(small.front()->expect());
  check_replays(*device, small);
}

/// Work that another queue is given meanwhile runs at once, with separate memory.
BOOST_FIXTURE_TEST_CASE(other_queues_go_on_while_one_is_recorded, TwoQueues) {
  const Products here = in_segments(), there = in_segments();
  forget(here);
  forget(there);
  check_ok(queue.synchronize());
  std::unique_ptr<Recording> recording;
  check_ok(record(
      queue,
      [&] {
        for (std::size_t p = 0; p < here.size(); ++p) {
          if (Status status = here[p]->enqueue(queue); !status.ok()) return status;
          if (Status status = there[p]->enqueue(*other); !status.ok()) return status;
        }
        return Status{};
      },
      recording));
  check_ok(other->synchronize());
  check(there, "beside a recording");
  check_ok(recording->replay(queue));
  check(here, "replayed");
}

BOOST_AUTO_TEST_CASE(a_queue_is_recorded_once_at_a_time) {
  Executor& device = executor(Backend::Cuda);
  Queue& queue = device.default_queue();
  const Operands x(device, DType::F32, 400, 372, 5500);
  const Products products = mixed(device, x, {{"segmented", Math::Strict}, {"stream_k", Math::Strict}});
  std::unique_ptr<Recording> outer, inner;
  Status within;
  check_ok(record(
      queue,
      [&] {
        if (Status status = products.front()->enqueue(queue); !status.ok()) return status;
        within = record(
            queue, [] { return Status{}; }, inner);
        return products.back()->enqueue(queue);
      },
      outer));
  BOOST_TEST(static_cast<int>(within.code) == static_cast<int>(StatusCode::Rejected));
  BOOST_TEST(inner == nullptr);
  forget(products);
  check_ok(outer->replay(queue));
  check(products, "replayed");
}

/// One thread records both queues, one recording within the other.
BOOST_FIXTURE_TEST_CASE(two_queues_are_recorded_at_once, TwoQueues) {
  const Products of_outer = in_segments(), of_inner = in_segments();
  std::unique_ptr<Recording> outer, inner;
  check_ok(record(
      queue,
      [&] {
        if (Status status = of_outer.front()->enqueue(queue); !status.ok()) return status;
        inner = recorded(*other, of_inner);
        return of_outer.back()->enqueue(queue);
      },
      outer));
  forget(of_outer);
  forget(of_inner);
  check_ok(outer->replay(queue));
  check_ok(inner->replay(queue));
  check(of_inner, "recorded within another recording");
  of_outer.front()->check("recorded around another recording");
  of_outer.back()->check("recorded around another recording");
}

BOOST_AUTO_TEST_SUITE_END()
