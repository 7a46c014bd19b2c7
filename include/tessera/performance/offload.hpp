#pragma once

/// The decision whether a product of host operands is faster on a device, copies included.
///
/// It is made from four measured numbers of a device and a host: the time of the smallest product, the speed of copies,
/// and the operations per second of the device and of the host, on products of about the size at which the two are
/// equally fast. Backend::Auto measures them once for a machine and element type, when the first product comes that may
/// be worth the copies (about 50 ms), and keeps them in offload.json in the user's cache folder (io.hpp), which is safe
/// to delete. Inside a parallel region the host would be measured with few of its threads. There nothing is measured,
/// and products stay on the host unless the file has the numbers. The decision changes no bit of a strict product.
///
/// Source: the offload thresholds of NVBLAS and of Cray's libsci_acc, which are set there and measured here.

#include <filesystem>
#include <optional>

#include <tessera/executor.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

/// The four numbers of a device and a host.
struct OffloadRates {
  double latency = 0.0;          ///< seconds of the smallest product, copies included
  double bytes_per_second = 0.0; ///< speed of copies from and to host memory
  double device_flops = 0.0;     ///< operations per second of the device
  double host_flops = 0.0;       ///< operations per second of the host

  /// Is the device faster for an m×n×k product whose operands and result are on the host? `element`: bytes of an
  /// element.
  TESSERA_API bool pays(Index m, Index n, Index k, std::size_t element) const noexcept;
};

/// The sizes of the cubic products that are timed.
struct OffloadProbe {
  Index device_size = 1024; ///< rows and columns of the product on the device
  Index host_size = 512;    ///< rows and columns of the product on the host
};

/// Times strict products of `type`, f32 or f64. Throws the errors that the executors report.
TESSERA_API OffloadRates measure_offload(Executor& device, Executor& host, DType type, const OffloadProbe& probe = {});

/// Returns the rates of this machine. They are read from `file`, or else measured and added to it; a file that cannot
/// be written is left alone, and an empty path keeps nothing. Returns none where they would have to be measured inside
/// a parallel region, because the host lacks threads there.
TESSERA_API std::optional<OffloadRates> offload_rates(Executor& device, Executor& host, DType type,
                                                      const std::filesystem::path& file,
                                                      const OffloadProbe& probe = {});

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
