#pragma once

/// Threads that work beside the caller, one for each further executor of a product, whose work the others can do.
///
/// The library has three such helpers, because they differ in what becomes of a thread that the system refuses, and in
/// what a wait costs. Here the refused thread's call is left out, because the other executors take its blocks. In
/// thread_team.hpp the caller does its tasks, of which there are new ones every few milliseconds. In
/// checking/compare/parallel.hpp the caller does its tasks too, once for each check.

#include <new>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <tessera/backend/log.hpp>
#include <tessera/detail/processors.hpp>

namespace tessera::detail {

/// Calls work(i) for each i below `count`, all at the same time, and returns when they are done; the calling thread
/// works for 0. Where the system refuses a thread, its call is left out, and the others must do its part. `work` must
/// not throw.
template <class Work>
void work_beside_each_other(std::size_t count, Work&& work) {
  std::vector<std::thread> threads;
  threads.reserve(count);
  for (std::size_t i = 1; i < count; ++i) try {
      threads.emplace_back([&work, i] {
        leave_inherited_place();
        work(i);
      });
    } catch (const std::system_error& error) {
      if (log_dispatch()) log_line(std::string("no thread for one of the executors: ") + error.what());
    } catch (const std::bad_alloc&) { // as if the system had no thread
    }
  work(0);
  for (std::thread& thread : threads) thread.join();
}

} // namespace tessera::detail
