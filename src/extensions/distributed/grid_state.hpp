#pragma once

#include <memory>
#include <optional>
#include <string>

#include <tessera/detail/distributed.hpp>
#include <tessera/executor.hpp>

#include "axis.hpp"
#include "memory/host_buffers.hpp"
#include "mpi/communicator.hpp"

namespace tessera::distributed {
class CublasMpSession;
}

namespace tessera::detail {

/// A grid of ranks with its communicators. Rank layer·P·Q + row·Q + col has these coordinates.
struct GridState {
  GridShape shape;
  std::unique_ptr<distributed::Communicator> world; ///< all ranks of the caller's communicator
  std::unique_ptr<distributed::Communicator> row; ///< the ranks of this layer and row, by column; null without a place
  std::unique_ptr<distributed::Communicator> col; ///< the ranks of this layer and column, by row; null without a place

  /// What the engine pblas found out about ScaLAPACK, and keeps: a context for each order of local elements.
  struct Scalapack {
    std::optional<int> contexts[2];
    std::optional<std::string> why_not[4]; ///< f32, f64, and complex: empty where the sums have the contract's order
  };
  Scalapack scalapack;
  std::shared_ptr<distributed::CublasMpSession> cublas_mp; ///< what the engine cublasmp has connected, and keeps
  distributed::KeptHostMemory panels;                      ///< memory for the panels of executors' products
  const Executor* sends_from = nullptr; ///< whose memory MPI was seen to take pointers to, on all ranks

  int layer_size() const noexcept { return shape.rows * shape.cols; }
  bool has_place() const noexcept { return world->rank() < layer_size() * shape.layers; }
  int layer() const noexcept { return world->rank() / layer_size(); }
  int row_of_rank() const noexcept { return world->rank() % layer_size() / shape.cols; }
  int col_of_rank() const noexcept { return world->rank() % shape.cols; }

  /// Returns the axes of a matrix on the first layer.
  distributed::Axis row_axis(const DistributedStorage& x) const noexcept {
    return {x.rows, x.blocks.rows, x.row_source, shape.rows, shape.cols};
  }
  distributed::Axis col_axis(const DistributedStorage& x) const noexcept {
    return {x.cols, x.blocks.cols, x.col_source, shape.cols, 1};
  }
};

} // namespace tessera::detail
