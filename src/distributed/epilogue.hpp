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

  /// Returns the bytes of the buffer that run() needs: a strip of a 16-bit C as f32.
  std::size_t buffer_bytes() const noexcept;
  /// Computes C. `sums` has C's local elements without gaps, in C's order, and is overwritten.
  Status run(char* sums, char* buffer) const;
  /// Computes C := beta·C, where there are no sums.
  Status run_without_sums() const;

 private:
  Status run_on_16_bits(char* sums, char* buffer) const;
  Index strip_rows() const noexcept;
};

} // namespace tessera::distributed
