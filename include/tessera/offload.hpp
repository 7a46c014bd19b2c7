#pragma once

/// When copying host operands to a device, multiplying there and copying the result back is faster than the host.
///
/// Four measured numbers of a device and a host say so for each product: what the shortest trip takes, how fast copies
/// are, and how many operations a second each of them does on products of about the size at which it is decided.
/// Backend::Auto measures them once for a machine and element type, when the first product asks that could be worth it
/// (some 50 ms), and keeps them in offload.json in the user's cache folder (io.hpp): safe to delete. Inside a parallel
/// region, where the host would be measured with few of its threads, nothing is: what is not kept yet stays on the
/// host. Nobody's bits depend on it: strict products have the same ones on both sides.
///
/// Idea: the offload thresholds of NVBLAS and of Cray's libsci_acc, measured instead of set.

#include <filesystem>
#include <optional>

#include <tessera/executor.hpp>

namespace tessera {

struct OffloadRates {
  double latency = 0.0;          ///< seconds of the smallest product, copies included
  double bytes_per_second = 0.0; ///< of copies from and to the host's memory
  double device_flops = 0.0;     ///< per second
  double host_flops = 0.0;

  /// Is the trip worth it for a product whose operands and result, of `element` bytes, are on the host?
  TESSERA_API bool pays(Index m, Index n, Index k, std::size_t element) const noexcept;
};

/// Cubes that are timed.
struct OffloadProbe {
  Index device_size = 1024;
  Index host_size = 512;
};

/// Times strict products of `type`, f32 or f64. Throws what the executors report.
TESSERA_API OffloadRates measure_offload(Executor& device, Executor& host, DType type, const OffloadProbe& probe = {});

/// The rates of this machine: from `file`, else measured and written there if it can be; an empty path keeps nothing.
/// None if they would have to be measured inside a parallel region, where the host lacks threads.
TESSERA_API std::optional<OffloadRates> offload_rates(Executor& device, Executor& host, DType type,
                                                      const std::filesystem::path& file,
                                                      const OffloadProbe& probe = {});

} // namespace tessera
