/// Copies of every shape, small and staged, one after another and at the same time; memory that is freed while another
/// queue works.

#include <cuda_runtime_api.h>

#include <array>
#include <cstring>
#include <thread>

#include <tessera/backend.hpp>

#include "cuda_plugin.hpp"
#include "round_trip.hpp"

using namespace tessera;
using namespace tessera::cuda_test;

namespace {

struct Shape {
  std::size_t width, rows, host_pitch, device_pitch;
};

constexpr std::array shapes{
    Shape{1, 1, 1, 1},                               // one byte
    Shape{4, 1000, 64, 64},                          // a column
    Shape{1000, 7, 1024, 1088},                      // small and padded
    Shape{(3 << 20) + 5, 1, (3 << 20) + 5, 4 << 20}, // long, staged, no multiple of anything
    Shape{4096, 4096, 4096, 4096},                   // no gaps: one long row
    Shape{1000, 6000, 1024, 1088},                   // padded and staged
    Shape{4096, 1500, 4096, 4160},                   // padded on one side
    Shape{2600000, 3, 2600001, 2600960},             // rows longer than a buffer
    Shape{4, 600000, 64, 64},                        // a long column
};

unsigned char pattern(std::size_t i, unsigned salt) {
  return static_cast<unsigned char>((i * 2654435761u + salt) >> 13);
}

/// Returns what a host buffer of this shape holds. The gaps between rows are marked.
std::vector<unsigned char> filled(const Shape& shape, std::size_t pitch, unsigned salt) {
  std::vector<unsigned char> bytes(pitch * shape.rows, 0xEE);
  for (std::size_t r = 0; r < shape.rows; ++r)
    for (std::size_t b = 0; b < shape.width; ++b) bytes[r * pitch + b] = pattern(r * shape.width + b, salt);
  return bytes;
}

void check_shape(Executor& executor, Queue& queue, const Shape& shape, unsigned salt) {
  const std::size_t on_device = shape.device_pitch * shape.rows;
  const std::vector<unsigned char> source = filled(shape, shape.host_pitch, salt);
  const std::vector<unsigned char> gaps(on_device, 0xEE);
  std::vector<unsigned char> back(source.size(), 0xEE);
  std::vector<unsigned char> whole(on_device);
  void* memory = nullptr;
  check_ok(executor.allocate(on_device, memory));
  check_ok(executor.copy_in(queue, memory, on_device, gaps.data(), on_device, on_device, 1));
  check_ok(
      executor.copy_in(queue, memory, shape.device_pitch, source.data(), shape.host_pitch, shape.width, shape.rows));
  check_ok(
      executor.copy_out(queue, back.data(), shape.host_pitch, memory, shape.device_pitch, shape.width, shape.rows));
  check_ok(executor.copy_out(queue, whole.data(), on_device, memory, on_device, on_device, 1));
  executor.free(memory);
  BOOST_REQUIRE_MESSAGE(back == source, "came back changed, or a gap on the host was written: width "
                                            << shape.width << ", rows " << shape.rows);
  BOOST_REQUIRE_MESSAGE(whole == filled(shape, shape.device_pitch, salt),
                        "a gap on the device was written: width " << shape.width << ", rows " << shape.rows);
}

} // namespace

BOOST_AUTO_TEST_SUITE(copies)

BOOST_AUTO_TEST_CASE(every_shape_arrives_and_comes_back) {
  Executor& cuda = executor(Backend::Cuda);
  for (const Shape& shape : shapes) check_shape(cuda, cuda.default_queue(), shape, 1);
}

BOOST_AUTO_TEST_CASE(pinned_memory_goes_directly) {
  Executor& cuda = executor(Backend::Cuda);
  constexpr std::size_t bytes = 8 << 20;
  void* pinned = nullptr;
  BOOST_REQUIRE(cudaMallocHost(&pinned, bytes) == cudaSuccess);
  std::memset(pinned, 0x5A, bytes);
  void* memory = nullptr;
  check_ok(cuda.allocate(bytes, memory));
  check_ok(cuda.copy_in(cuda.default_queue(), memory, bytes, pinned, bytes, bytes, 1));
  std::memset(pinned, 0, bytes);
  check_ok(cuda.copy_out(cuda.default_queue(), pinned, bytes, memory, bytes, bytes, 1));
  cuda.free(memory);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < bytes; ++i) wrong += static_cast<unsigned char*>(pinned)[i] != 0x5A;
  BOOST_TEST(wrong == 0u);
  BOOST_TEST(cudaFreeHost(pinned) == cudaSuccess);
}

BOOST_AUTO_TEST_CASE(several_threads_at_once) {
  Executor& cuda = executor(Backend::Cuda);
  std::vector<std::thread> threads;
  std::array<Status, 4> made;
  std::array<std::unique_ptr<Queue>, 4> queues;
  for (std::size_t t = 0; t < queues.size(); ++t) check_ok(cuda.create_queue(queues[t]));
  std::array<bool, 4> right{};
  for (std::size_t t = 0; t < queues.size(); ++t)
    threads.emplace_back([&, t] {
      const std::size_t bytes = (3 << 20) + t * 1000;
      std::vector<unsigned char> source(bytes, static_cast<unsigned char>(t + 1));
      std::vector<unsigned char> back(bytes);
      void* memory = nullptr;
      made[t] = cuda.allocate(bytes, memory);
      if (made[t].ok()) made[t] = cuda.copy_in(*queues[t], memory, bytes, source.data(), bytes, bytes, 1);
      if (made[t].ok()) made[t] = cuda.copy_out(*queues[t], back.data(), bytes, memory, bytes, bytes, 1);
      cuda.free(memory);
      right[t] = back == source;
    });
  for (std::thread& thread : threads) thread.join();
  for (std::size_t t = 0; t < queues.size(); ++t) {
    check_ok(made[t]);
    BOOST_TEST(right[t]);
  }
}

/// The executor may hand freed memory out again at once, but only work that comes after the other queue's work may
/// write to it.
BOOST_AUTO_TEST_CASE(freeing_waits_for_the_other_queues_work) {
  Executor& cuda = executor(Backend::Cuda);
  std::unique_ptr<Queue> side;
  check_ok(cuda.create_queue(side));
  constexpr Index count = 16 << 20;
  MapCall fill;
  fill.rows = 1;
  fill.cols = fill.ldz = count;
  std::vector<float> result(count);
  for (int repeat = 0; repeat < 5; ++repeat) {
    void* first = nullptr;
    check_ok(cuda.allocate(count * sizeof(float), first));
    fill.z = first;
    fill.alpha = 1.0;
    for (int again = 0; again < 20; ++again) check_ok(cuda.map(*side, fill));
    cuda.free(first);
    void* second = nullptr;
    check_ok(cuda.allocate(count * sizeof(float), second));
    fill.z = second;
    fill.alpha = 2.0;
    check_ok(cuda.map(cuda.default_queue(), fill));
    check_ok(side->synchronize());
    check_ok(cuda.copy_out(cuda.default_queue(), result.data(), count * 4, second, count * 4, count * 4, 1));
    cuda.free(second);
    std::size_t wrong = 0;
    for (const float value : result) wrong += value != 2.0f;
    BOOST_TEST(wrong == 0u);
  }
}

BOOST_AUTO_TEST_SUITE_END()
