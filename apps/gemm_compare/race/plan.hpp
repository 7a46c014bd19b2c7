#pragma once

/// The plan of a run: which kernels meet which shapes.

#include <memory>
#include <string>
#include <vector>

#include <tessera/backend.hpp>

#include "options/options.hpp"

namespace tessera::compare_app {

struct Way;

/// One kernel of one backend with one number of threads. Either `gemm`, `reduce` or `way` is set, or the group has an
/// operation.
struct Task {
  Backend backend = Backend::Reference;
  Executor* executor = nullptr;
  const GemmKernel* gemm = nullptr;
  const ReduceKernel* reduce = nullptr;
  int threads = 0;                          ///< 0: not on the processor
  std::shared_ptr<const Way> way = nullptr; ///< of an operation of linear algebra

  bool has_kernel() const { return gemm != nullptr || reduce != nullptr; }
  /// The kernel's name, the type of its operands and its mode; of a task that has a kernel.
  const char* name() const { return gemm != nullptr ? gemm->name : reduce->name; }
  DType type() const { return gemm != nullptr ? gemm->type : reduce->type; }
  Math math() const { return gemm != nullptr ? gemm->math : Math::Strict; }
};

/// The entries that are compared with each other, which have one shape and type.
struct Group {
  GemmShape shape;
  DType type = DType::F32;
  std::vector<Task> tasks;                   ///< from the first rung to the best, backend by backend
  const OperationEntry* operation = nullptr; ///< of --op, which each task runs
  const SystemOperation* system = nullptr;   ///< of --op, which each task runs in its way
  bool is_complex = false;                   ///< of a system: numbers with parts of `type`

  detail::NumberType number() const { return {type, is_complex}; }
};

struct MissingBackend {
  Backend backend = Backend::Reference;
  std::string reason;
  bool demanded = false;
};

struct RacePlan {
  std::vector<Group> groups;
  std::vector<MissingBackend> missing;
  std::vector<Backend> backends; ///< present and used
  std::vector<Task> left_out;    ///< models that the command line does not mean; see left_out_line()
};

/// Makes the plan that the options ask for. Throws InvalidArgument if a pattern, or a combination of type and mode,
/// matches no kernel, and BackendUnavailable if none of the backends that were named is there.
RacePlan make_plan(const Options& options);

/// Returns one line on the models that were left out and on how to race them; empty if there are none. A model is a
/// kernel of the processor in a mode of a GPU's units, with the very bits of Hopper GPUs, and slow on most processors.
/// Models are for tests and for machines without a GPU, and are raced only where the command line means them: by
/// --all-modes, by a list of modes in --math, or by a pattern of --kernels that matches no kernel but models.
std::string left_out_line(const RacePlan& plan);

} // namespace tessera::compare_app
