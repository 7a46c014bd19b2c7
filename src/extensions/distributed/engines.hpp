#pragma once

/// The ladder of distributed products. An engine computes the sums of a product, one fma chain for each segment and the
/// segments in ascending order; gemm.cpp applies alpha and beta, as the contract does, once at the end.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include <tessera/distributed/distributed.hpp>
#include <tessera/running_sums.hpp>

#include "panels/panels.hpp"

namespace tessera::distributed {

/// A product whose arguments were checked: sums of op(A)·op(B), spread as C is.
struct DistributedProduct {
  const tessera::detail::GridState& grid;
  tessera::detail::DistributedType type;
  GemmShape shape;
  Source a, b;      ///< rows of op(A) × k, columns of op(B) × k
  Axis rows, cols;  ///< of C
  LocalOrder order; ///< of C's local elements, and of the sums
  Segments segments;
  Index local_rows, local_cols; ///< of C's part at this rank's coordinates; 0 on a rank that does not work
  int threads;
  Executor* executor;
  Backend backend = Backend::Auto; ///< as the caller of this rank named it, for the product or for where matrices stay
  LocalOrder a_order = order, b_order = order;
  bool device_messages = false; ///< panels are broadcast from and into the executor's memory
  bool c_stays = false;         ///< C's elements on this rank stay in the executor's memory

  /// Returns the bytes of the sums on this rank.
  std::size_t sums_bytes() const noexcept {
    return static_cast<std::size_t>(local_rows * local_cols) * type.sum_bytes();
  }
};

/// One product by one engine, on one rank.
class EngineRun {
 public:
  virtual ~EngineRun() = default;
  /// Returns how many bytes allocate() takes from the host, beside the sums, and from a device.
  virtual std::size_t bytes() const noexcept = 0;
  virtual std::size_t device_bytes() const noexcept = 0;
  /// Returns how many bytes of elements this rank will receive; none if a library sends them by itself.
  virtual std::optional<std::uint64_t> bytes_expected() const noexcept = 0;
  /// Allocates what the local products need of a device's memory. Where the device has less memory left than was
  /// planned, `changed` is set, and the engine needs less of it; all other answers may be others then.
  virtual Status reserve(bool& /*changed*/) { return {}; }
  /// Allocates everything else that run() needs. `sums` has C's local elements without gaps, in C's order; null if the
  /// sums are left in the executor's memory.
  virtual Status allocate(HostBuffers& buffers, char* sums) = 0;
  /// Computes the sums on layer 0. All ranks of the grid's communicator call it. A rank whose local products fail takes
  /// part in the transfers all the same, so that no other rank waits for it.
  virtual Status run(DistributedReport& report) = 0;
  /// Does run() read the elements of A, or of B, in the executor's memory, where they stay?
  virtual bool reads_on_device(bool /*of_a*/) const noexcept { return false; }
  /// Does run() leave the sums in the executor's memory? It then needs none on the host.
  virtual bool leaves_sums_on_device() const noexcept { return false; }
  /// Do the sums cross to the executor's memory and back many times? They are then in memory that its copies do not
  /// wait for.
  virtual bool copies_sums_often() const noexcept { return false; }
  /// Returns the sums that run() has left there. Its last local product is complete.
  virtual RunningSums sums_on_device() const noexcept { return {}; }
  /// Leaves memory beside the buffers of allocate() to the process for good, because MPI may still write to it.
  virtual void abandon() noexcept {}
};

/// One engine of the ladder.
struct Engine : DistributedEngine {
  /// Returns why the engine does not take a product; empty if it does. The answer is the same on all ranks. All ranks
  /// call it.
  std::string (*reject)(const DistributedProduct& product);
  std::unique_ptr<EngineRun> (*make)(const DistributedProduct& product);
  bool has_device_messages = false; ///< can it broadcast panels from a device's memory by MPI?
};

extern const Engine summa, pblas, cublas_mp, cublas_xt;

/// Returns the engines in the order of preference.
std::span<const Engine* const> engines() noexcept;

} // namespace tessera::distributed
