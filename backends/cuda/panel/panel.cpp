#include "panel.hpp"

namespace tessera::cuda {
namespace {

bool takes_complex(PanelOp op) {
  switch (op) {
    case PanelOp::SolveTriangle:
    case PanelOp::LargestOfRows:
    case PanelOp::LargestOfColumns:
    case PanelOp::Narrow:
    case PanelOp::Magnitudes:
    case PanelOp::SmallSystems:
      return false;
    default:
      return true;
  }
}

} // namespace

Status panel(Executor& executor, Queue& queue, const PanelCall& call) noexcept {
  if (call.is_complex && !takes_complex(call.op))
    return {StatusCode::Rejected, "this step of a factorisation is for real numbers"};
  switch (call.op) {
    case PanelOp::Cholesky:
      return factor_positive_panel(executor, queue, call);
    case PanelOp::Lu:
      if (Status status = find_room_for_solution(executor, call); !status.ok()) return status;
      return factor_lu_panel(executor, queue, call);
    case PanelOp::SolveColumns:
      return solve_columns(executor, queue, call);
    case PanelOp::SolveTriangle:
      return solve_triangle(executor, queue, call);
    case PanelOp::ExchangeRows:
      return exchange_rows(queue, call);
    case PanelOp::GatherRows:
      return gather_rows(queue, call);
    case PanelOp::Reverse:
      return reverse(queue, call);
    case PanelOp::ClearUpper:
      return clear_upper(queue, call);
    case PanelOp::ColumnSums:
      return column_sums(queue, call);
    case PanelOp::Reflections:
      return factor_reflection_panel(executor, queue, call);
    case PanelOp::ReflectionVectors:
      return reflection_vectors(queue, call);
    case PanelOp::ReflectionTriangle:
      return reflection_triangle(queue, call);
    case PanelOp::ClearLower:
      return clear_lower(queue, call);
    case PanelOp::SolveRows:
      return solve_rows(executor, queue, call);
    case PanelOp::LargestOfRows:
      return largest_of_rows(queue, call);
    case PanelOp::LargestOfColumns:
      return largest_of_columns(queue, call);
    case PanelOp::Narrow:
      return narrow(queue, call);
    case PanelOp::Magnitudes:
      return magnitudes(queue, call);
    case PanelOp::IntoPlanes:
      return into_planes(queue, call);
    case PanelOp::FromPlanes:
      return from_planes(queue, call);
    case PanelOp::TriangleAlone:
      return triangle_alone(queue, call);
    case PanelOp::TriangleTerms:
      return triangle_terms(queue, call);
    case PanelOp::LeastMagnitude:
      return least_magnitude(queue, call);
    case PanelOp::SmallSystems:
      break; // small_systems/ has it
  }
  return {StatusCode::Rejected, "there is no such step of a factorisation"};
}

} // namespace tessera::cuda
