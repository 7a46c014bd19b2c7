#pragma once

/// The plan of a run: which kernels meet which shapes.

#include <string>
#include <vector>

#include <tessera/backend.hpp>

#include "options/options.hpp"

namespace tessera::compare_app {

/// One kernel of one backend with one number of threads. Either `gemm` or `reduce` is set, or the group has an
/// operation.
struct Task {
  Backend backend = Backend::Reference;
  Executor* executor = nullptr;
  const GemmKernel* gemm = nullptr;
  const ReduceKernel* reduce = nullptr;
  int threads = 0; ///< 0: not on the processor
};

/// The rows that are compared with each other, which have one shape and type.
struct Group {
  Shape shape;
  DType type = DType::F32;
  std::vector<Task> tasks;                   ///< from the first rung to the best, backend by backend
  const OperationEntry* operation = nullptr; ///< of --op, which each task runs
};

struct MissingBackend {
  Backend backend = Backend::Reference;
  std::string reason;
  bool demanded = false;
};

struct Plan {
  std::vector<Group> groups;
  std::vector<MissingBackend> missing;
  std::vector<Backend> backends; ///< present and used
};

/// Makes the plan that the options ask for. Throws InvalidArgument if a pattern, or a combination of type and mode,
/// matches no kernel, and BackendUnavailable if none of the backends that were named is there.
Plan make_plan(const Options& options);

} // namespace tessera::compare_app
