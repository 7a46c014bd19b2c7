#pragma once

/// Matrices on the device for direct calls of an executor.

#include <cstddef>
#include <limits>
#include <vector>

#include <tessera/executor.hpp>

#include "round_trip.hpp"

namespace tessera::cuda_test {

/// A matrix on the device, of rows×cols elements without padding.
class OnDevice {
 public:
  OnDevice(Executor& device, DType type, Index rows, Index cols)
      : device_(device), type_(type), rows_(rows), cols_(cols) {
    check_ok(device.allocate(static_cast<std::size_t>(rows * cols) * size_of(type), data_));
  }
  ~OnDevice() { device_.free(data_); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

  void fill_randomly(std::uint64_t seed) {
    check_ok(device_.random(device_.default_queue(),
                            {.type = type_, .rows = rows_, .cols = cols_, .z = data_, .ldz = cols_, .seed = seed}));
  }
  void fill_with_nan() {
    MapCall fill;
    fill.op = MapOp::Fill;
    fill.type = type_;
    fill.rows = rows_;
    fill.cols = cols_;
    fill.alpha = std::numeric_limits<double>::quiet_NaN();
    fill.z = data_;
    fill.ldz = cols_;
    check_ok(device_.map(device_.default_queue(), fill));
  }
  std::vector<std::byte> bytes() const {
    const std::size_t width = static_cast<std::size_t>(cols_) * size_of(type_);
    std::vector<std::byte> host(width * static_cast<std::size_t>(rows_));
    check_ok(device_.copy_out(device_.default_queue(), host.data(), width, data_, width, width,
                              static_cast<std::size_t>(rows_)));
    return host;
  }
  void* data() const { return data_; }

 private:
  Executor& device_;
  DType type_;
  Index rows_, cols_;
  void* data_ = nullptr;
};

} // namespace tessera::cuda_test
