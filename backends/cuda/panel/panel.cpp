#include "panel.hpp"

namespace tessera::cuda {

Status panel(Executor& executor, Queue& queue, const PanelCall& call) noexcept {
  switch (call.op) {
    case PanelOp::Cholesky:
      return factor_positive_panel(executor, queue, call);
    case PanelOp::Lu:
      return factor_lu_panel(executor, queue, call);
    case PanelOp::SolveColumns:
      return solve_columns(queue, call);
    case PanelOp::ExchangeRows:
      return exchange_rows(queue, call);
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
    case PanelOp::SmallSystems:
      break; // small_systems/ has it
  }
  return {StatusCode::Rejected, "there is no such step of a factorisation"};
}

} // namespace tessera::cuda
