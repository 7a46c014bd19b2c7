/// Queues wait for one another, and several threads share an executor.

#include <cmath>
#include <thread>

#include "support.hpp"

using namespace tessera;
using namespace tessera::opencl_test;

namespace {

constexpr Index n = 200;
constexpr auto count = static_cast<std::size_t>(n * n);

MapCall scaled(const OnDevice<float>& x, const OnDevice<float>& z, double alpha) {
  return {.op = MapOp::Scale,
          .type = DType::F32,
          .rows = n,
          .cols = n,
          .alpha = alpha,
          .x = x.data(),
          .ldx = n,
          .z = z.data(),
          .ldz = n};
}

} // namespace

BOOST_AUTO_TEST_SUITE(queues)

/// Two queues hand a matrix to and fro; each waits for the other by an event.
BOOST_AUTO_TEST_CASE(two_queues_in_turn) {
  if (!has_device()) return;
  Executor& device = executor(Backend::OpenCl);
  std::unique_ptr<Queue> queues[2];
  std::unique_ptr<Event> events[2];
  for (int i = 0; i < 2; ++i) {
    throw_if_failed(device.create_queue(queues[i]));
    throw_if_failed(device.create_event(events[i]));
  }
  const OnDevice<float> x(device, std::vector<float>(count, 1.0f)), y(device, count);
  for (int turn = 0; turn < 20; ++turn) {
    const int i = turn % 2;
    throw_if_failed(queues[i]->wait(*events[1 - i])); // in the first turn it was not recorded
    throw_if_failed(device.map(*queues[i], i == 0 ? scaled(x, y, 2.0) : scaled(y, x, 0.5 + 0.25)));
    throw_if_failed(events[i]->record(*queues[i]));
  }
  throw_if_failed(events[1]->synchronize());
  float expected = 1;
  for (int turn = 0; turn < 10; ++turn) expected *= 1.5f;
  BOOST_TEST(x.fetch() == std::vector<float>(count, expected));
}

BOOST_AUTO_TEST_CASE(times_go_forward) {
  if (!has_device()) return;
  Executor& device = executor(Backend::OpenCl);
  Queue& queue = device.default_queue();
  std::unique_ptr<Event> start, middle, stop;
  for (std::unique_ptr<Event>* event : {&start, &middle, &stop}) throw_if_failed(device.create_event(*event));
  const OnDevice<float> x(device, std::vector<float>(count, 1.0f)), y(device, count);
  throw_if_failed(start->record(queue));
  throw_if_failed(device.map(queue, scaled(x, y, 2.0)));
  throw_if_failed(middle->record(queue));
  for (int i = 0; i < 50; ++i) throw_if_failed(device.map(queue, scaled(x, y, 2.0)));
  throw_if_failed(stop->record(queue));
  double first = 0, rest = 0, all = 0;
  throw_if_failed(middle->seconds_since(*start, first));
  throw_if_failed(stop->seconds_since(*middle, rest));
  throw_if_failed(stop->seconds_since(*start, all));
  BOOST_TEST(first > 0);
  BOOST_TEST(rest > 0);
  BOOST_TEST(std::abs(all - first - rest) < 1e-8);
}

/// Threads with a queue each use one kernel at the same time; its arguments must not mix.
BOOST_AUTO_TEST_CASE(threads_use_one_kernel) {
  if (!has_device()) return;
  Executor& device = executor(Backend::OpenCl);
  constexpr int threads = 4;
  std::vector<std::string> failures(threads);
  {
    std::vector<std::jthread> team;
    for (int t = 0; t < threads; ++t)
      team.emplace_back([&, t] {
        try {
          std::unique_ptr<Queue> queue;
          throw_if_failed(device.create_queue(queue));
          const OnDevice<float> x(device, std::vector<float>(count, static_cast<float>(t + 1))), y(device, count);
          for (int turn = 0; turn < 50; ++turn) throw_if_failed(device.map(*queue, scaled(x, y, turn)));
          throw_if_failed(queue->synchronize());
          if (y.fetch() != std::vector<float>(count, static_cast<float>(49 * (t + 1)))) failures[t] = "other numbers";
        } catch (const std::exception& error) {
          failures[t] = error.what();
        }
      });
  }
  for (const std::string& failure : failures) BOOST_TEST(failure == "");
}

/// The ceilings are measured, and are no wonder: reading and writing memory is slower than a cache.
BOOST_AUTO_TEST_CASE(ceilings) {
  if (!has_device()) return;
  for (const DType type : {DType::F32, DType::F64}) {
    Ceilings measured;
    throw_if_failed(executor(Backend::OpenCl).measure_ceilings(type, Math::Strict, 0, measured));
    BOOST_TEST(measured.flops > 1e9);
    BOOST_TEST(measured.flops < 1e15);
    BOOST_TEST(measured.bytes_per_second > 1e8);
    BOOST_TEST(measured.bytes_per_second < 1e14);
  }
}

BOOST_AUTO_TEST_SUITE_END()
