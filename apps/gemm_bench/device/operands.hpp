#pragma once

/// The operands of a product on a device, in many copies with other numbers each.

#include <string>

#include "gemm_bench/random_products.hpp"
#include "memory.hpp"
#include "peer.hpp"

namespace tessera::bench {

/// Has as many sets of A, B and C as fill the device's L2 cache several times. A call then finds its operands in
/// memory, as in a program that has other work between two products.
class DeviceOperands {
 public:
  /// Fills A and B at random. Throws OutOfMemory and DeviceError.
  DeviceOperands(Executor& device, const DeviceMode& mode, const RacedProduct& product);

  /// The call on the next set; after the last set follows the first.
  const GemmCall& next();
  /// Makes C of all sets what it is before a sample: NaN where the product does not read it.
  void reset_c();
  /// Does the product read C, so that each one of a sample begins with another C?
  bool reads_c() const { return call_.beta != 0; }
  /// Compares rows of C of the set that next() gave last, which the device has finished. Where the product reads C, it
  /// must have been the first one after reset_c(). Returns the errors.
  GemmError error(const Arithmetic& arithmetic) const;

 private:
  /// One operand of all sets, each at a multiple of 256 bytes as cudaMalloc would place it.
  struct Operand {
    Operand(Executor& device, DType type, Index rows, Index cols, Index sets);
    void fill_at_random(Executor& device, DType type, std::uint64_t seed) const;
    void* of_set(Index set) const { return memory.as<char>() + static_cast<std::size_t>(set) * stride; }

    Index rows, cols;
    std::size_t stride; ///< bytes from one set to the next
    DeviceMemory memory;
  };
  static Index count_sets(const Executor& device, const DeviceMode& mode, const RacedProduct& product);

  Executor& device_;
  Index sets_;
  Index set_ = 0;
  Operand a_, b_, c_;
  GemmCall call_;
};

} // namespace tessera::bench
