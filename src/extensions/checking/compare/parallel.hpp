#pragma once

/// Threads for the reference. They belong to no backend, because a check of a kernel must not share its scheduler.

#include <atomic>
#include <cstddef>
#include <system_error>
#include <thread>
#include <vector>

#include <tessera/detail/floating_point.hpp>
#include <tessera/detail/processors.hpp>

namespace tessera::compare {

/// Runs task(0) … task(count − 1), which must not throw, on at most `threads` threads, this one among them.
template <class Task>
void parallel(std::size_t count, int threads, const Task& task) {
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    const detail::ContractArithmetic contract;
    for (std::size_t i = next++; i < count; i = next++) task(i);
  };
  const auto help = [&] {
    detail::leave_inherited_place();
    work();
  };
  std::vector<std::jthread> helpers;
  try {
    for (int t = 1; t < threads && static_cast<std::size_t>(t) < count; ++t) helpers.emplace_back(help);
  } catch (const std::system_error&) { // the system has no more threads; the ones that started do the work
  }
  work();
}

} // namespace tessera::compare
