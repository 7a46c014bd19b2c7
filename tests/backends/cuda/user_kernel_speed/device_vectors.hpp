#pragma once

/// The vectors of the races: two with random numbers, one for results, in the device's memory and on the host.

#include <vector>

#include <tessera/executor.hpp>

namespace speed {

using tessera::Index;

/// Memory of an executor for n doubles.
class DeviceVector {
 public:
  DeviceVector(tessera::Executor& device, Index n);
  ~DeviceVector() { device_.free(data_); }
  DeviceVector(const DeviceVector&) = delete;
  DeviceVector& operator=(const DeviceVector&) = delete;

  double* data() const { return static_cast<double*>(data_); }
  void fill_randomly(std::uint64_t seed);
  void fill_with_nan();
  std::vector<double> fetch() const;

 private:
  tessera::Executor& device_;
  Index n_;
  void* data_ = nullptr;
};

struct DeviceVectors {
  DeviceVector a, b, c;
  std::vector<double> host_a, host_b;

  DeviceVectors(tessera::Executor& device, Index n);
};

} // namespace speed
