#pragma once

/// For the tests of factorisations that a device computes itself.

#include <atomic>
#include <thread>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <tessera/backend.hpp>
#include <tessera/status.hpp>

#include "systems.hpp"

namespace tessera::test {

inline Executor& device() { return executor(tested_backend()); }
inline bool has_panels() { return device().capabilities().has_panels; }
/// Has it the steps, and memory for all matrices of a test?
inline bool keeps_all() { return has_panels() && device().capabilities().memory_bytes > std::size_t{1} << 26; }

/// Has it memory for large matrices as well? The tests' own devices, whose loops are plain, have not.
inline bool keeps_large() { return has_panels() && device().capabilities().memory_bytes > std::size_t{1} << 32; }

/// Has the matrix its newest copy on the tested device?
template <class T>
bool is_there(const Matrix<T>& x) {
  return x.newest_on() == &device();
}

/// Four threads compute the same by factors that they share. One that lacks memory must not take the factors away from
/// the others: each result is right, or there is an error, and afterwards it is right.
template <class Compute>
void expect_shared_factors_to_stay(const Compute& compute, const Matrix<double>& expected) {
  std::atomic<int> right = 0, wrong = 0, short_of_memory = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int round = 0; round < 10; ++round) try {
          ++(differing(compute(), expected) == 0 ? right : wrong);
        } catch (const OutOfMemory&) {
          ++short_of_memory;
        }
    });
  for (std::thread& thread : threads) thread.join();
  BOOST_TEST(wrong == 0);
  BOOST_TEST(right + short_of_memory == 40);
  BOOST_TEST(differing(compute(), expected) == 0);
}

} // namespace tessera::test
