#pragma once

#include <Python.h>

#include <string>
#include <vector>

#include <tessera/types.hpp>

namespace tessera::python {

/// The arguments of tessera._core._solve_batch, as tessera/_system_batch.py passes them: arrays of NumPy of one type
/// that linear systems have, whose last two dimensions are matrices by rows, and whose others are the batch.
struct SystemBatchArguments {
  PyObject* task;   ///< "solve", "positive", "inverse", "cholesky" or "lu"
  PyObject* a;      ///< matrices that are read, or None; its batch has x's dimensions
  PyObject* x;      ///< the right-hand sides or matrices, whose place the results take; row-major without gaps
  PyObject* pivots; ///< for "lu", an array of int64 for them, without gaps; else None
  PyObject* lower;
  PyObject* backend;
  PyObject* threads;
};

/// Computes all systems. Throws InvalidArgument, which names the first system that has no solution, when all others are
/// done.
void solve_system_batch(const SystemBatchArguments& arguments);

/// Throws InvalidArgument, which names `function` and the first system that has failed, where one has. `shape` is the
/// batch's.
void expect_all_done(const std::string& function, bool is_positive, const std::vector<Index>& info,
                     const std::vector<Py_ssize_t>& shape);

} // namespace tessera::python
