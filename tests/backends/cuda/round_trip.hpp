#pragma once

/// Checks that an executor is usable by a small piece of real work.

#include <vector>

#include <boost/test/unit_test.hpp>

#include <tessera/executor.hpp>

namespace tessera::cuda_test {

inline void check_ok(const Status& status) { BOOST_REQUIRE_MESSAGE(status.ok(), status.why); }

/// Copies numbers to the device, doubles them there, and copies them back.
inline void check_usable(Executor& executor) {
  constexpr Index count = 1000;
  std::vector<float> numbers(count);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
  void* memory = nullptr;
  check_ok(executor.allocate(count * sizeof(float), memory));
  Queue& queue = executor.default_queue();
  check_ok(executor.copy_in(queue, memory, count * 4, numbers.data(), count * 4, count * 4, 1));
  MapCall twice;
  twice.op = MapOp::Scale;
  twice.rows = 1;
  twice.cols = count;
  twice.alpha = 2.0;
  twice.x = twice.z = memory;
  twice.ldx = twice.ldz = count;
  check_ok(executor.map(queue, twice));
  check_ok(executor.copy_out(queue, numbers.data(), count * 4, memory, count * 4, count * 4, 1));
  executor.free(memory);
  for (std::size_t i = 0; i < numbers.size(); ++i) BOOST_REQUIRE(numbers[i] == 2.0f * static_cast<float>(i));
}

} // namespace tessera::cuda_test
