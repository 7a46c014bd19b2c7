/// Tests memory that is allocated and freed while a queue is recorded and other queues exist.

#include <complex>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <tessera/complex.hpp>
#include <tessera/performance/recording.hpp>
#include <tessera/tessera.hpp>

#include "cuda_plugin.hpp"
#include "limit.hpp"
#include "on_device.hpp"
#include "recorded_products.hpp"

using namespace tessera;
using namespace tessera::cuda_test;

namespace {

/// The default queue, another one, and a square operand.
struct Queues {
  static constexpr Index n = 200;
  static constexpr std::size_t row = n * sizeof(float);
  Executor& device = executor(Backend::Cuda);
  Queue& queue = device.default_queue();
  std::unique_ptr<Queue> other;
  OnDevice a{device, DType::F32, n, n};

  Queues() {
    check_ok(device.create_queue(other));
    a.fill_randomly(1);
  }
  GemmCall square(const void* x, void* c) const {
    return {{.type = DType::F32, .m = n, .n = n, .k = n, .a = x, .lda = n, .b = x, .ldb = n, .c = c, .ldc = n}};
  }
  Status scale(Queue& where, double alpha, const void* x, void* z) {
    MapCall call;
    call.op = MapOp::Scale;
    call.type = DType::F32;
    call.rows = call.cols = n;
    call.alpha = alpha;
    call.x = x;
    call.z = z;
    call.ldx = call.ldz = n;
    return device.map(where, call);
  }
  std::vector<float> copied_out(Queue& where, const void* x) {
    std::vector<float> host(n * n);
    check_ok(device.copy_out(where, host.data(), row, x, row, row, n));
    return host;
  }
};

std::vector<float> times(std::vector<float> numbers, float factor) {
  for (float& number : numbers) number *= factor;
  return numbers;
}

bool has_room(Executor& device, std::size_t size) {
  void* memory = nullptr;
  const bool there = device.allocate(size, memory).ok();
  device.free(memory);
  return there;
}

} // namespace

BOOST_AUTO_TEST_SUITE(recorded_memory)

/// The memory that the product allocates besides its operands must not draw the other queue into the recording.
BOOST_FIXTURE_TEST_CASE(a_complex_product_is_recorded_beside_another_queue, Queues) {
  constexpr Index half = n / 2; // complex columns
  OnDevice c(device, DType::F32, half, n);
  ComplexGemmCall call{{.m = half, .n = half, .k = half}};
  call.alpha = {0.5, 2};
  call.a = call.b = a.data();
  call.c = c.data();
  call.lda = call.ldb = call.ldc = half;
  check_ok(gemm(device, queue, call));
  const auto expected = c.bytes();
  c.fill_with_nan();
  OnDevice z(device, DType::F32, n, n);
  std::unique_ptr<Recording> recording;
  check_ok(record(
      queue,
      [&] {
        if (Status status = gemm(device, queue, call); !status.ok()) return status;
        return scale(*other, 2, a.data(), z.data());
      },
      recording));
  BOOST_TEST((copied_out(*other, z.data()) == times(copied_out(queue, a.data()), 2)), "the other queue did not run");
  for (int replay = 0; replay < 2; ++replay) {
    c.fill_with_nan();
    check_ok(recording->replay(queue));
    BOOST_TEST((c.bytes() == expected), "replay " << replay);
  }
}

/// The memory can be used at once by every queue. It stays its owner's when the recording is made and when it is gone.
BOOST_FIXTURE_TEST_CASE(memory_that_is_allocated_meanwhile, Queues) {
  const std::vector<float> numbers = copied_out(queue, a.data());
  void* z = nullptr;
  std::unique_ptr<Recording> recording;
  check_ok(record(
      queue,
      [&] {
        if (Status status = device.allocate(n * row, z); !status.ok()) return status;
        if (Status status = scale(*other, 3, a.data(), z); !status.ok()) return status;
        if (Status status = other->synchronize(); !status.ok()) return status;
        return scale(queue, 2, z, z);
      },
      recording));
  BOOST_REQUIRE(recording != nullptr);
  BOOST_TEST((copied_out(queue, z) == times(numbers, 3)));
  for (float factor : {6.0f, 12.0f}) {
    check_ok(recording->replay(queue));
    BOOST_TEST((copied_out(queue, z) == times(numbers, factor)));
  }
  recording.reset();
  OnDevice trampling(device, DType::F32, n, n);
  trampling.fill_with_nan();
  BOOST_TEST((copied_out(queue, z) == times(numbers, 12)), "its memory went with the recording");
  device.free(z);
}

/// Records a·a·a with a temporary that has been freed when the recording is replayed.
BOOST_FIXTURE_TEST_CASE(temporaries_are_the_recordings, Queues) {
  OnDevice c(device, DType::F32, n, n);
  const auto cube = [&] {
    OnDevice square_of_a(device, DType::F32, n, n);
    if (Status status = device.gemm(queue, square(a.data(), square_of_a.data())); !status.ok()) return status;
    GemmCall call = square(square_of_a.data(), c.data());
    call.b = a.data();
    return device.gemm(queue, call);
  };
  check_ok(cube());
  const auto expected = c.bytes();
  std::unique_ptr<Recording> recording;
  check_ok(record(queue, cube, recording));
  for (int replay = 0; replay < 2; ++replay) {
    std::vector<std::unique_ptr<OnDevice>> trampling;
    for (int i = 0; i < 4; ++i) {
      trampling.push_back(std::make_unique<OnDevice>(device, DType::F32, n, n));
      trampling.back()->fill_with_nan();
    }
    c.fill_with_nan();
    check_ok(recording->replay(queue));
    for (const auto& other_memory : trampling) other_memory->fill_with_nan();
    BOOST_TEST((c.bytes() == expected), "replay " << replay);
  }
}

BOOST_AUTO_TEST_CASE(what_is_freed_meanwhile_is_kept_until_the_recording_is_gone) {
  const Environment limit("TESSERA_CUDA_MEMORY_LIMIT", "8M");
  OwnExecutor device;
  check_ok(create_own(device));
  void* early = nullptr;
  check_ok(device->allocate(6 * mebi, early));
  BOOST_TEST(!has_room(*device, 3 * mebi));
  std::unique_ptr<Recording> recording;
  check_ok(record(
      device->default_queue(),
      [&] {
        device->free(early);
        return Status{};
      },
      recording));
  BOOST_REQUIRE(recording != nullptr);
  BOOST_TEST(!has_room(*device, 3 * mebi), "a replay might use what is not there");
  recording.reset();
  BOOST_TEST(has_room(*device, 7 * mebi), "lost");
  check_usable(*device);
}

BOOST_AUTO_TEST_CASE(memory_of_a_recording_that_failed_is_given_back) {
  const Environment limit("TESSERA_CUDA_MEMORY_LIMIT", "8M");
  OwnExecutor device;
  check_ok(create_own(device));
  void* early = nullptr;
  void* kept = nullptr;
  check_ok(device->allocate(3 * mebi, early));
  std::unique_ptr<Recording> recording;
  const Status status = record(
      device->default_queue(),
      [&] {
        device->free(early);
        if (Status allocated = device->allocate(2 * mebi, kept); !allocated.ok()) return allocated;
        void* too_large = nullptr;
        return device->allocate(4 * mebi, too_large);
      },
      recording);
  BOOST_TEST(static_cast<int>(status.code) == static_cast<int>(StatusCode::OutOfMemory));
  BOOST_TEST(recording == nullptr);
  device->free(kept);
  BOOST_TEST(has_room(*device, 7 * mebi));
  check_usable(*device);
}

/// A capture that broke off leaves users the memory that they have allocated meanwhile.
BOOST_AUTO_TEST_CASE(memory_outlives_a_capture_that_broke_off) {
  const Environment limit("TESSERA_CUDA_MEMORY_LIMIT", "8M");
  OwnExecutor device;
  check_ok(create_own(device));
  void* kept = nullptr;
  std::unique_ptr<Recording> recording;
  const Status status = record(
      device->default_queue(),
      [&] {
        if (Status allocated = device->allocate(2 * mebi, kept); !allocated.ok()) return allocated;
        return device->default_queue().synchronize();
      },
      recording);
  BOOST_TEST(!status.ok());
  BOOST_TEST(recording == nullptr);
  BOOST_TEST(!has_room(*device, 7 * mebi), "what its owner still holds is gone");
  device->free(kept);
  BOOST_TEST(has_room(*device, 7 * mebi));
  check_usable(*device);
}

/// Memory is allocated and freed in the order of all queues while one of them is recorded.
BOOST_FIXTURE_TEST_CASE(memory_comes_and_goes_while_another_queue_is_recorded, Queues) {
  const std::vector<float> numbers = copied_out(queue, a.data());
  OnDevice z(device, DType::F32, n, n), y(device, DType::F32, n, n);
  std::unique_ptr<Recording> recording;
  check_ok(record(
      *other,
      [&] {
        if (Status status = scale(*other, 2, a.data(), z.data()); !status.ok()) return status;
        void* memory = nullptr;
        if (Status status = device.allocate(n * row, memory); !status.ok()) return status;
        Status status = scale(queue, 5, a.data(), memory);
        if (status.ok()) status = scale(queue, 1, memory, y.data());
        device.free(memory);
        return status.ok() ? scale(*other, 2, z.data(), z.data()) : status;
      },
      recording));
  BOOST_REQUIRE(recording != nullptr);
  BOOST_TEST((copied_out(queue, y.data()) == times(numbers, 5)), "the default queue did not run");
  check_ok(recording->replay(*other));
  BOOST_TEST((copied_out(*other, z.data()) == times(numbers, 4)));
}

/// A queue that is made meanwhile works at once, after the work that the recorded queue was given before.
BOOST_FIXTURE_TEST_CASE(a_queue_is_made_while_another_one_is_recorded, Queues) {
  const std::vector<float> numbers = copied_out(queue, a.data());
  std::unique_ptr<Queue> late;
  std::vector<float> got;
  std::unique_ptr<Recording> recording;
  OnDevice z(device, DType::F32, n, n);
  check_ok(scale(queue, 7, a.data(), z.data()));
  check_ok(record(
      queue,
      [&] {
        if (Status status = device.create_queue(late); !status.ok()) return status;
        got = copied_out(*late, z.data());
        return scale(queue, 2, z.data(), z.data());
      },
      recording));
  BOOST_REQUIRE(recording != nullptr);
  BOOST_TEST((got == times(numbers, 7)));
  check_ok(recording->replay(*late));
  BOOST_TEST((copied_out(*late, z.data()) == times(numbers, 14)));
}

BOOST_AUTO_TEST_SUITE_END()
