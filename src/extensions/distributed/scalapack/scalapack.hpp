#pragma once

/// What libtessera needs of ScaLAPACK. A plug-in libtessera_scalapack_<mpi>.so calls the ScaLAPACK that was built for
/// an MPI library. It is linked with Tessera's BLAS before ScaLAPACK, so that the local products of ScaLAPACK are
/// Tessera's, unless the program has loaded another BLAS before.
///
/// A plug-in exports
///
///     extern "C" const tessera::distributed::ScalapackInfo* tessera_scalapack_plugin() noexcept;

#include <array>
#include <cstdint>

#include <tessera/backend/build_tag.hpp>
#include <tessera/backend/plugin.hpp>
#include <tessera/detail/distributed.hpp>
#include <tessera/types.hpp>

namespace tessera::distributed {

/// A distributed matrix as ScaLAPACK has it: column-major on each rank.
struct ScalapackMatrix {
  void* data;
  std::array<int, 9> descriptor;
};

/// A product C := A·B + beta·C of parts of matrices. op(A) is m×k; rows and columns of the first elements count from 1.
/// A transpose of complex operands may be a conjugate one.
struct ScalapackProduct {
  tessera::detail::DistributedType type; ///< f32 or f64, or complex
  Op op_a, op_b;
  int m, n, k;
  ScalapackMatrix a, b, c;
  int row_a, col_a, row_b, col_b;
};

inline constexpr std::uint32_t scalapack_plugin_abi_version = 2;

/// The description of a plug-in. All of it is constant and valid until the process ends. All ranks of a context call
/// the functions. BLACS ends the program where MPI fails, and waits without a limit.
struct ScalapackInfo {
  std::uint32_t struct_size;
  std::uint32_t abi_version;
  const char* build_tag;
  const char* name;
  /// Makes a context of rows×cols ranks of a communicator (the address of an MPI_Comm): process (r, c) is the rank
  /// r·row_stride + c·col_stride. All ranks of the communicator call it; −1 on a rank without a place.
  int (*make_context)(const void* comm, int rows, int cols, int row_stride, int col_stride);
  void (*end_context)(int context);
  /// Adds a product to C: C := op(A)·op(B) + C.
  void (*add_product)(const ScalapackProduct& product);
  /// Copies a rows×cols matrix between distributions of one context.
  void (*copy)(tessera::detail::DistributedType type, int rows, int cols, const ScalapackMatrix& from,
               const ScalapackMatrix& to, int context);
  const char* bound_to = &library_mark; ///< as in PluginInfo
};

using ScalapackEntry = const ScalapackInfo* (*)();
inline constexpr const char* scalapack_entry_name = "tessera_scalapack_plugin";

} // namespace tessera::distributed
