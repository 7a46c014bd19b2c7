#include "device_vectors.hpp"

#include <limits>

#include <tessera/status.hpp>

using namespace tessera;

namespace speed {

DeviceVector::DeviceVector(Executor& device, Index n) : device_(device), n_(n) {
  throw_if_failed(device.allocate(static_cast<std::size_t>(n) * sizeof(double), data_));
}

void DeviceVector::fill_randomly(std::uint64_t seed) {
  throw_if_failed(device_.random(device_.default_queue(),
                                 {.type = DType::F64, .rows = 1, .cols = n_, .z = data_, .ldz = n_, .seed = seed}));
}

void DeviceVector::fill_with_nan() {
  MapCall fill;
  fill.op = MapOp::Fill;
  fill.type = DType::F64;
  fill.rows = 1;
  fill.cols = n_;
  fill.alpha = std::numeric_limits<double>::quiet_NaN();
  fill.z = data_;
  fill.ldz = n_;
  throw_if_failed(device_.map(device_.default_queue(), fill));
}

std::vector<double> DeviceVector::fetch() const {
  std::vector<double> host(static_cast<std::size_t>(n_));
  const std::size_t bytes = host.size() * sizeof(double);
  throw_if_failed(device_.copy_out(device_.default_queue(), host.data(), bytes, data_, bytes, bytes, 1));
  return host;
}

DeviceVectors::DeviceVectors(Executor& device, Index n) : a(device, n), b(device, n), c(device, n) {
  a.fill_randomly(1);
  b.fill_randomly(2);
  host_a = a.fetch();
  host_b = b.fetch();
}

} // namespace speed
