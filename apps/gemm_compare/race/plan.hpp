#pragma once

/// Which kernels meet which shapes.

#include <string>
#include <vector>

#include <tessera/backend.hpp>

#include "options/options.hpp"

namespace tessera::compare_app {

/// One kernel of one backend with one number of threads. One of the two rows is set.
struct Task {
  Backend backend = Backend::Reference;
  Executor* executor = nullptr;
  const GemmKernel* gemm = nullptr;
  const ReduceKernel* reduce = nullptr;
  int threads = 0; ///< 0: not on the processor
};

/// What is compared with each other: one shape and type.
struct Group {
  Shape shape;
  DType type = DType::F32;
  std::vector<Task> tasks; ///< from the first rung to the best, backend by backend
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

/// Throws InvalidArgument if a pattern, or a combination of type and mode, matches no kernel; BackendUnavailable if
/// none of the backends that were named is there.
Plan make_plan(const Options& options);

} // namespace tessera::compare_app
