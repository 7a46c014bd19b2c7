#pragma once

/// One product that many kernels compute. Each kernel is timed and compared with a reference in higher precision.

#include <Python.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tessera/checking/compare.hpp>
#include <tessera/checking/freivalds.hpp>
#include <tessera/executor.hpp>

#include "array.hpp"
#include "layout.hpp"

namespace tessera::python {

/// The result of one kernel. `seconds` has one number for each timed run.
struct RaceResult {
  std::vector<double> seconds;
  std::optional<GemmError> error;
  std::string verdict; ///< pass, wrong, rejected, skipped or failed, as in gemm_compare's JSON
  std::string reason;
};

class Race {
 public:
  /// Takes arrays in host memory, and keeps them alive.
  Race(PyObject* a, PyObject* b, int threads);
  ~Race();

  Index m() const { return a_.rows; }
  Index n() const { return b_.cols; }
  Index k() const { return a_.cols; }
  DType type() const { return a_.type.part; }

  /// Times a kernel `repeat` times and compares its result. The kernel is skipped if a run is expected to take longer
  /// than `time_limit` seconds; 0: no limit. Throws BackendUnavailable, and InvalidArgument if the backend does not
  /// have the kernel in this type and mode.
  RaceResult run(Backend backend, const std::string& kernel, Math math, int repeat, double time_limit);

 private:
  void judge(const GemmKernel& row, const void* c, RaceResult& result);
  GemmCall host_call(Math math);

  Array a_, b_;
  Operand on_a_, on_b_;
  int threads_;
  std::vector<char> c_;
  std::unique_ptr<GemmReference> reference_;
  std::unique_ptr<FreivaldsCheck> freivalds_;
};

} // namespace tessera::python
