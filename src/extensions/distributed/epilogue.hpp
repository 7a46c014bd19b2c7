#pragma once

/// The last step of a product, on each rank by itself: C := alpha·sums + beta·C where C lies.

#include <complex>
#include <cstddef>

#include <tessera/detail/distributed.hpp>
#include <tessera/executor.hpp>
#include <tessera/running_sums.hpp>
#include <tessera/status.hpp>

namespace tessera::distributed {

struct LastStep {
  std::complex<double> alpha, beta;
  const tessera::detail::DistributedStorage& c;
  int threads;

  /// Returns the bytes that run() allocates for a while: a strip of a 16-bit C as f32.
  std::size_t buffer_bytes() const noexcept;
  /// Computes C. `sums` has C's local elements without gaps, in C's order.
  Status run(char* sums) const;
  /// Computes C in the memory of the executor where it stays, and where the sums are; see takes_sums_on_device().
  Status run_on_device(const RunningSums& sums) const;
  /// Can run_on_device() compute C without memory of its own? A 16-bit C that is read takes a copy in f32.
  bool takes_sums_on_device() const noexcept { return beta == 0.0 || !is_16_bit(c.type.part); }
  /// Computes C := beta·C, where there are no sums.
  Status run_without_sums() const;

 private:
  /// C's local elements as a row-major matrix in an executor's memory.
  struct Place {
    Executor& executor;
    void* c;
    Index ldc;
  };
  Status run_on_complex(const Place& place, const RunningSums& sums) const;
  Index strip_rows() const noexcept;
};

} // namespace tessera::distributed
