#pragma once

/// gemm_bench peers --gpu

#include <cstdint>
#include <string>
#include <vector>

#include "gemm_bench/random_products.hpp"

namespace tessera::bench {

/// A product of a run, and the seed from which it was drawn; 0 for a product that the user named.
struct PlannedProduct {
  RacedProduct product;
  std::uint64_t seed = 0;
};

struct DevicePlan {
  std::vector<std::string> modes;   ///< names of device_modes()
  std::vector<std::string> kernels; ///< of the ladder, to be timed beside the executor's own choice
  std::vector<PlannedProduct> products;
  int rounds = 9;
  double sample_seconds = 5e-3;
  std::string json; ///< file; empty: none
};

/// Prints the table and the summary and writes the files. Returns the exit status: 1 if a result was wrong. Throws
/// BackendUnavailable without a device, and InvalidArgument if a mode is none.
int run_device_plan(const DevicePlan& plan);

} // namespace tessera::bench
