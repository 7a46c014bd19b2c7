/// Addresses of device memory: callers add offsets to them, whichever way they are made.

#include "support.hpp"
#include "support/expect.hpp"

using namespace tessera;
using namespace tessera::opencl_test;

BOOST_AUTO_TEST_SUITE(memory)

BOOST_AUTO_TEST_CASE(offsets_name_elements_of_a_block) {
  if (!has_device()) return;
  Executor& device = executor(Backend::OpenCl);
  const OnDevice<float> x(device, counted<float>(1000));
  const OnDevice<float> z(device, std::vector<float>(1000, -1.0f));
  throw_if_failed(device.map(device.default_queue(), {.op = MapOp::Scale,
                                                      .type = DType::F32,
                                                      .rows = 7,
                                                      .cols = 5,
                                                      .alpha = 2.0,
                                                      .x = x.data() + 301,
                                                      .ldx = 11,
                                                      .z = z.data() + 17,
                                                      .ldz = 13}));
  const std::vector<float> result = z.fetch();
  for (std::size_t e = 0; e < result.size(); ++e) {
    const std::size_t row = e < 17 ? 7 : (e - 17) / 13, col = e < 17 ? 5 : (e - 17) % 13;
    const float expected = row < 7 && col < 5 ? 2 * static_cast<float>(301 + row * 11 + col) : -1.0f;
    BOOST_TEST_REQUIRE(result[e] == expected);
  }
}

/// Rows of every pitch, also between two places of one block.
BOOST_AUTO_TEST_CASE(rectangles) {
  if (!has_device()) return;
  Executor& device = executor(Backend::OpenCl);
  Queue& queue = device.default_queue();
  constexpr std::size_t rows = 9, width = 12;
  const std::vector<std::uint8_t> bytes = counted<std::uint8_t>(4096);
  for (const auto [from_pitch, to_pitch, from, to] :
       {std::array<std::size_t, 4>{12, 12, 0, 2000}, {40, 40, 5, 2003}, {17, 31, 3, 2001}, {31, 17, 250, 3001}}) {
    const OnDevice<std::uint8_t> block(device, bytes);
    throw_if_failed(device.enqueue_copy(queue, {.direction = CopyDirection::Within,
                                                .to = block.data() + to,
                                                .to_pitch = to_pitch,
                                                .from = block.data() + from,
                                                .from_pitch = from_pitch,
                                                .width = width,
                                                .rows = rows}));
    std::vector<std::uint8_t> expected = bytes;
    for (std::size_t row = 0; row < rows; ++row)
      for (std::size_t e = 0; e < width; ++e) expected[to + row * to_pitch + e] = bytes[from + row * from_pitch + e];
    BOOST_TEST(block.fetch() == expected);

    std::vector<std::uint8_t> out(4096, 7), wanted = out;
    throw_if_failed(device.copy_out(queue, out.data() + to, to_pitch, block.data() + from, from_pitch, width, rows));
    for (std::size_t row = 0; row < rows; ++row)
      for (std::size_t e = 0; e < width; ++e) wanted[to + row * to_pitch + e] = expected[from + row * from_pitch + e];
    BOOST_TEST(out == wanted);

    throw_if_failed(device.copy_in(queue, block.data() + to, to_pitch, out.data() + from, from_pitch, width, rows));
    for (std::size_t row = 0; row < rows; ++row)
      for (std::size_t e = 0; e < width; ++e) expected[to + row * to_pitch + e] = out[from + row * from_pitch + e];
    BOOST_TEST(block.fetch() == expected);
  }
}

BOOST_AUTO_TEST_CASE(what_is_no_memory_of_the_device_is_refused) {
  if (!has_device()) return;
  Executor& device = executor(Backend::OpenCl);
  float here[4] = {};
  const MapCall call{.op = MapOp::Fill, .type = DType::F32, .rows = 2, .cols = 2, .z = here, .ldz = 2};
  const Status status = device.map(device.default_queue(), call);
  BOOST_TEST(static_cast<int>(status.code) == static_cast<int>(StatusCode::InvalidArgument));
  BOOST_TEST(test::contains(status.why, "Executor::allocate()"), status.why);
}

/// Freed memory may still be used by work that was enqueued before, and other blocks may take its place meanwhile.
BOOST_AUTO_TEST_CASE(memory_is_freed_after_the_work_that_uses_it) {
  if (!has_device()) return;
  Executor& device = executor(Backend::OpenCl);
  std::unique_ptr<Queue> side;
  throw_if_failed(device.create_queue(side));
  constexpr Index n = 300;
  const auto count = static_cast<std::size_t>(n * n);
  const OnDevice<float> z(device, std::vector<float>(count, 0.0f));
  for (int turn = 1; turn <= 20; ++turn) {
    {
      const OnDevice<float> x(device, std::vector<float>(count, static_cast<float>(turn)));
      throw_if_failed(device.map(*side, {.op = MapOp::Axpby,
                                         .type = DType::F32,
                                         .rows = n,
                                         .cols = n,
                                         .x = x.data(),
                                         .ldx = n,
                                         .y = z.data(),
                                         .ldy = n,
                                         .z = z.data(),
                                         .ldz = n}));
    }
    const OnDevice<float> other(device, std::vector<float>(count, -1e6f));
  }
  throw_if_failed(side->synchronize());
  BOOST_TEST(z.fetch() == std::vector<float>(count, 210.0f));
}

BOOST_AUTO_TEST_CASE(pinned_memory_is_aligned_and_copied) {
  if (!has_device()) return;
  Executor& device = executor(Backend::OpenCl);
  constexpr std::size_t count = 100003;
  void* pinned = nullptr;
  throw_if_failed(device.allocate_host(count * sizeof(float), pinned));
  BOOST_TEST(reinterpret_cast<std::uintptr_t>(pinned) % 64 == 0u);
  auto* const numbers = static_cast<float*>(pinned);
  for (std::size_t e = 0; e < count; ++e) numbers[e] = static_cast<float>(e);
  const OnDevice<float> x(device, count);
  const std::size_t bytes = count * sizeof(float);
  Queue& queue = device.default_queue();
  throw_if_failed(device.enqueue_copy(queue, {.direction = CopyDirection::In,
                                              .to = x.data(),
                                              .to_pitch = bytes,
                                              .from = pinned,
                                              .from_pitch = bytes,
                                              .width = bytes,
                                              .rows = 1}));
  throw_if_failed(queue.synchronize());
  BOOST_TEST(x.fetch() == counted<float>(count));
  device.free_host(pinned);
}

BOOST_AUTO_TEST_SUITE_END()
