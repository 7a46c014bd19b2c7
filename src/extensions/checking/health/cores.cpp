#include "cores.hpp"

#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

#include <tessera/detail/floating_point.hpp>
#include <tessera/detail/processors.hpp>

namespace tessera::health_check {

std::vector<int> usable_cores() {
  const detail::ProcessorMask all = detail::ProcessorMask::of_thread(0);
  std::vector<int> cores;
  for (int core = all.first(); core >= 0 && static_cast<int>(cores.size()) < all.count(); ++core) {
    detail::ProcessorMask one;
    one.add(core);
    if (one.is_within(all)) cores.push_back(core);
  }
  return cores;
}

std::vector<int> run_on_cores(const std::vector<int>& cores, const CoreWork& work) {
  std::mutex mutex;
  std::vector<int> refused;
  std::exception_ptr failure;
  const auto body = [&](int core) {
    try {
      const detail::ContractArithmetic contract;
      detail::ProcessorMask only;
      only.add(core);
      if (only.give_to(0)) return work(core);
      const std::lock_guard lock(mutex);
      refused.push_back(core);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  std::vector<std::thread> threads;
  threads.reserve(cores.size());
  for (const int core : cores) try {
      threads.emplace_back(body, core);
    } catch (const std::system_error&) { // there is no thread for this core
      const std::lock_guard lock(mutex);
      refused.push_back(core);
    }
  for (std::thread& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
  return refused;
}

bool run_on_core(int core, const CoreWork& work) { return run_on_cores({core}, work).empty(); }

} // namespace tessera::health_check
