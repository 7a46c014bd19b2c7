#pragma once

/// One product that kernel after kernel computes, each timed and held against a reference in higher precision.

#include <Python.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tessera/compare.hpp>
#include <tessera/executor.hpp>
#include <tessera/freivalds.hpp>

#include "array.hpp"
#include "layout.hpp"

namespace tessera::python {

/// How one kernel did. Seconds are of each timed run.
struct RaceResult {
  std::vector<double> seconds;
  std::optional<GemmError> error;
  std::string verdict; ///< pass, wrong, rejected, skipped or failed, as in gemm_compare's JSON
  std::string reason;
};

class Race {
 public:
  /// Arrays in host memory, which are kept.
  Race(PyObject* a, PyObject* b, int threads);
  ~Race();

  Index m() const { return a_.rows; }
  Index n() const { return b_.cols; }
  Index k() const { return a_.cols; }
  DType type() const { return a_.type.part; }

  /// A run that is expected to take longer than `time_limit` seconds is skipped; 0: none is. Throws InvalidArgument for
  /// a kernel that the backend does not have in this type and mode, and BackendUnavailable.
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
