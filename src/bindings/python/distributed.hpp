#pragma once

/// What tessera/mpi.py needs of distributed matrices. Addresses and sizes come from NumPy and mpi4py as numbers; the
/// Python code keeps the arrays alive. All functions are collective, and the GIL is released while they wait.

#include <Python.h>

#include <nanobind/nanobind.h>

#include <complex>
#include <cstdint>
#include <string>

#include <tessera/distributed/distributed.hpp>

#include "array.hpp"

namespace tessera::python {

using GridPointer = std::shared_ptr<tessera::detail::GridState>;

/// Makes a grid from the address and the size of an MPI_Comm.
GridPointer make_grid(std::uintptr_t comm, std::size_t size, int rows, int cols, int layers, double time_limit);
/// Makes the grid of all ranks that receives the fewest elements.
GridPointer make_best_grid(std::uintptr_t comm, std::size_t size, Index m, Index n, Index k, double time_limit);

using MatrixPointer = tessera::detail::DistributedPointer;

/// Makes a matrix whose elements stay in the memory of a backend.
MatrixPointer make_matrix(const GridPointer& grid, Element type, Index rows, Index cols, Blocks blocks,
                          LocalOrder order, const Residence& residence);

/// This rank's part of a distributed matrix, in an array or in the library's memory.
struct LocalPart {
  Index rows, cols;           ///< of the whole matrix
  Index row_block, col_block; ///< sizes of the blocks
  std::uintptr_t address;     ///< of the first element
  bool column_major;          ///< the order of the elements
  Index ld;                   ///< elements from one row (or column) to the next
  MatrixPointer matrix = {};  ///< the library's, whose elements are meant; null: the array's are
};

/// Returns the element type of NumPy's name.
Element parse_element(std::string_view name);

DistributedReport distributed_gemm(const GridPointer& grid, Element type, std::complex<double> alpha,
                                   const LocalPart& a, Op op_a, const LocalPart& b, Op op_b, std::complex<double> beta,
                                   const LocalPart& c, const DistributedOptions& options);
/// Returns what distributed_gemm() with these arguments will take on this rank.
DistributedPlan distributed_plan(const GridPointer& grid, Element type, std::complex<double> alpha, const LocalPart& a,
                                 Op op_a, const LocalPart& b, Op op_b, std::complex<double> beta, const LocalPart& c,
                                 const DistributedOptions& options);
/// Copies a whole matrix of the rank `root`, row by row at `whole`, to the ranks' parts.
void distributed_scatter(const GridPointer& grid, Element type, std::uintptr_t whole, Index ld, int root,
                         const LocalPart& to);
/// Copies the parts to a whole matrix of the rank `root`.
void distributed_gather(const GridPointer& grid, Element type, const LocalPart& from, std::uintptr_t whole, Index ld,
                        int root);
/// Copies the elements to another distribution, on a grid of the same communicator.
void distributed_redistribute(const GridPointer& from_grid, const LocalPart& from, const GridPointer& to_grid,
                              const LocalPart& to, Element type);

/// Adds the module's functions for tessera/mpi.py.
void bind_distributed(nanobind::module_& module);

} // namespace tessera::python
