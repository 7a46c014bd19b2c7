#pragma once

/// The last step of a product, on each rank by itself: C := alpha·sums + beta·C where C lies.

#include <complex>
#include <cstddef>

#include <tessera/detail/distributed.hpp>
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
  /// Computes C := beta·C, where there are no sums.
  Status run_without_sums() const;

 private:
  Status run_on_complex(const char* sums) const;
  Index strip_rows() const noexcept;
};

} // namespace tessera::distributed
