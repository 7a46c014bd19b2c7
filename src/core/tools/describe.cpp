#include "describe.hpp"

#include <tessera/backend/panel.hpp>
#include <tessera/backend/small_systems.hpp>
#include <tessera/backend/traffic.hpp>

namespace tessera::tools {
namespace {

/// Begins the description of work on this executor.
Operation on(Executor& executor, Queue* queue, Kind kind, const char* name) {
  const Capabilities& machine = executor.capabilities();
  Operation operation;
  operation.kind = kind;
  operation.name = name;
  operation.backend = to_string(machine.backend).data(); // words of backends end with a null
  operation.device = machine.device.c_str();
  operation.device_index = machine.device_index;
  operation.executor = &executor;
  operation.queue = queue;
  return operation;
}

std::uint64_t bytes_of(Index rows, Index cols, DType type) {
  return static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(cols) * size_of(type);
}

double operations_of(const GemmCall& call) {
  return 2.0 * static_cast<double>(call.m) * static_cast<double>(call.n) * static_cast<double>(call.k);
}

const char* word_of(MapOp op) {
  switch (op) {
    case MapOp::Fill:
      return "fill";
    case MapOp::Identity:
      return "identity";
    case MapOp::Axpby:
      return "axpby";
    case MapOp::Scale:
      return "scale";
    case MapOp::Multiply:
      return "multiply";
    case MapOp::Transpose:
      return "transpose";
    case MapOp::Convert:
      return "convert";
    case MapOp::ExpandComplex:
      return "expand_complex";
    case MapOp::CopyComplex:
      return "copy_complex";
    case MapOp::CombineComplex:
      return "combine_complex";
  }
  return "unknown";
}

const char* word_of(PanelOp op) {
  switch (op) {
    case PanelOp::Cholesky:
      return "cholesky_panel";
    case PanelOp::Lu:
      return "lu_panel";
    case PanelOp::SolveColumns:
      return "solve_columns";
    case PanelOp::SolveTriangle:
      return "solve_triangle";
    case PanelOp::ExchangeRows:
      return "exchange_rows";
    case PanelOp::GatherRows:
      return "gather_rows";
    case PanelOp::Reverse:
      return "reverse";
    case PanelOp::ClearUpper:
      return "clear_upper";
    case PanelOp::ColumnSums:
      return "column_sums";
    case PanelOp::Reflections:
      return "reflections";
    case PanelOp::ReflectionVectors:
      return "reflection_vectors";
    case PanelOp::ReflectionTriangle:
      return "reflection_triangle";
    case PanelOp::ClearLower:
      return "clear_lower";
    case PanelOp::IntoPlanes:
      return "into_planes";
    case PanelOp::FromPlanes:
      return "from_planes";
    case PanelOp::SolveRows:
      return "solve_rows";
    case PanelOp::LargestOfRows:
      return "largest_of_rows";
    case PanelOp::LargestOfColumns:
      return "largest_of_columns";
    case PanelOp::Narrow:
      return "narrow";
    case PanelOp::Magnitudes:
      return "magnitudes";
    case PanelOp::SmallSystems:
      return "small_systems";
    case PanelOp::TriangleAlone:
      return "triangle_alone";
    case PanelOp::TriangleTerms:
      return "triangle_terms";
    case PanelOp::LeastMagnitude:
      return "least_magnitude";
  }
  return "unknown";
}

/// Describes work that reads or writes one matrix, once.
template <class Call>
Operation on_matrix(Operation operation, const Call& call) {
  operation.type = operation.result = call.type;
  operation.m = call.rows;
  operation.n = call.cols;
  operation.bytes = bytes_of(call.rows, call.cols, call.type);
  return operation;
}

/// Matrices of the size of z that an operation reads and writes; x of another type counts by `x_bytes`.
std::uint64_t bytes_of(const MapCall& call) {
  const std::uint64_t z = bytes_of(call.rows, call.cols, call.type);
  switch (call.op) {
    case MapOp::Fill:
    case MapOp::Identity:
      return z;
    case MapOp::Axpby:
    case MapOp::Multiply:
      return 3 * z;
    case MapOp::Scale:
    case MapOp::Transpose:
      return 2 * z;
    case MapOp::Convert:
      return z + bytes_of(call.rows, call.cols, call.x_type);
    case MapOp::ExpandComplex: // two elements are read for each number, and four are written
      return 6 * z;
    case MapOp::CopyComplex:
      return 4 * z;
    case MapOp::CombineComplex:
      return call.beta == 0 && call.beta_imaginary == 0 ? 4 * z : 6 * z;
  }
  return z;
}

} // namespace

Operation describe(Executor& executor, Queue& queue, const GemmCall& call, const char* kernel) {
  Operation operation = on(executor, &queue, Kind::Product, kernel);
  operation.type = call.type;
  operation.result = call.result;
  operation.math = call.math;
  operation.m = call.m;
  operation.n = call.n;
  operation.k = call.k;
  operation.bytes = static_cast<std::uint64_t>(compulsory_traffic(call).bytes);
  operation.operations = operations_of(call);
  return operation;
}

Operation describe_verified(Executor& executor, Queue& queue, const GemmCall& call, Kind kind) {
  Operation operation = describe(executor, queue, call, kind == Kind::Repair ? "repair" : "verify");
  operation.kind = kind;
  operation.operations = 0; // its parts have them
  operation.bytes = 0;
  return operation;
}

Operation describe(Executor& executor, Queue& queue, std::span<const GemmBatch> groups, const char* kernel) {
  Operation operation = describe(executor, queue, groups.front().call, kernel);
  operation.kind = Kind::Batch;
  operation.count = 0;
  operation.operations = 0;
  double bytes = 0;
  for (const GemmBatch& group : groups) {
    operation.count += group.count;
    operation.operations += static_cast<double>(group.count) * operations_of(group.call);
    bytes += static_cast<double>(group.count) * compulsory_traffic(group.call).bytes;
  }
  operation.bytes = static_cast<std::uint64_t>(bytes);
  return operation;
}

Operation describe(Executor& executor, Queue& queue, const ReduceCall& call, const char* kernel) {
  return on_matrix(on(executor, &queue, Kind::Reduction, kernel), call);
}

Operation describe(Executor& executor, Queue& queue, const MapCall& call) {
  Operation operation = on(executor, &queue, Kind::ElementWise, word_of(call.op));
  operation.type = call.op == MapOp::Convert ? call.x_type : call.type;
  operation.result = call.type;
  operation.m = call.rows;
  operation.n = call.cols;
  operation.bytes = bytes_of(call);
  return operation;
}

Operation describe(Executor& executor, Queue& queue, const RandomCall& call) {
  return on_matrix(on(executor, &queue, Kind::ElementWise, "random"), call);
}

Operation describe(Executor& executor, Queue& queue, const FinishCall& call) {
  Operation operation = on(executor, &queue, Kind::ElementWise, "epilogue");
  operation.type = call.x_type;
  operation.result = call.z_type;
  operation.m = call.rows;
  operation.n = call.cols;
  operation.bytes = bytes_of(call.rows, call.cols, call.z_type);
  if (call.x != nullptr) operation.bytes += bytes_of(call.rows, call.cols, call.x_type);
  if (call.epilogue.residual != nullptr) operation.bytes += bytes_of(call.rows, call.cols, call.z_type);
  return operation;
}

Operation describe_copy(Executor& executor, Queue& queue, Kind kind, std::size_t width, std::size_t rows) {
  const char* const name = kind == Kind::CopyIn ? "copy_in" : kind == Kind::CopyOut ? "copy_out" : "copy_within";
  Operation operation = on(executor, &queue, kind, name);
  operation.m = static_cast<Index>(rows);
  operation.bytes = static_cast<std::uint64_t>(width) * rows;
  return operation;
}

Operation describe(Executor& executor, Queue& queue, const CopyCall& call) {
  const Kind kind = call.direction == CopyDirection::In    ? Kind::CopyIn
                    : call.direction == CopyDirection::Out ? Kind::CopyOut
                                                           : Kind::CopyWithin;
  return describe_copy(executor, queue, kind, call.width, call.rows);
}

Operation describe(Executor& executor, Queue& queue, const PanelCall& call) {
  Operation operation = on_matrix(on(executor, &queue, Kind::Panel, word_of(call.op)), call);
  if (call.is_complex) operation.bytes *= 2;
  if (call.op == PanelOp::SmallSystems) operation.bytes *= static_cast<std::uint64_t>(call.systems->count);
  return operation;
}

Operation describe_memory(Executor& executor, Kind kind, const char* name, std::size_t bytes, const void* memory) {
  Operation operation = on(executor, nullptr, kind, name);
  operation.bytes = bytes;
  operation.memory = memory;
  return operation;
}

} // namespace tessera::tools
