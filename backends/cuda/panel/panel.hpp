#pragma once

/// Panels, triangles and rows that change places (PanelCall). Each function enqueues its work and does not wait.

#include <tessera/backend/panel.hpp>
#include <tessera/executor.hpp>

namespace tessera::cuda {

/// Runs the step, or returns Rejected before anything is written.
Status panel(Executor& executor, Queue& queue, const PanelCall& call) noexcept;

Status factor_positive_panel(Executor& executor, Queue& queue, const PanelCall& call) noexcept;
Status factor_lu_panel(Executor& executor, Queue& queue, const PanelCall& call) noexcept;
Status solve_columns(Executor& executor, Queue& queue, const PanelCall& call) noexcept;
Status solve_rows(Executor& executor, Queue& queue, const PanelCall& call) noexcept;
/// Returns Rejected where the device's blocks have too little shared memory for solve_columns() with such numbers: LU
/// asks before it writes.
Status find_room_for_solution(const Executor& executor, const PanelCall& call) noexcept;
Status solve_triangle(Executor& executor, Queue& queue, const PanelCall& call) noexcept;
Status exchange_rows(Queue& queue, const PanelCall& call) noexcept;
Status reverse(Queue& queue, const PanelCall& call) noexcept;
Status gather_rows(Queue& queue, const PanelCall& call) noexcept;
Status clear_upper(Queue& queue, const PanelCall& call) noexcept;
Status column_sums(Queue& queue, const PanelCall& call) noexcept;
Status factor_reflection_panel(Executor& executor, Queue& queue, const PanelCall& call) noexcept;
Status reflection_vectors(Queue& queue, const PanelCall& call) noexcept;
Status reflection_triangle(Queue& queue, const PanelCall& call) noexcept;
Status clear_lower(Queue& queue, const PanelCall& call) noexcept;
Status into_planes(Queue& queue, const PanelCall& call) noexcept;
Status from_planes(Queue& queue, const PanelCall& call) noexcept;
Status largest_of_rows(Queue& queue, const PanelCall& call) noexcept;
Status largest_of_columns(Queue& queue, const PanelCall& call) noexcept;
Status narrow(Queue& queue, const PanelCall& call) noexcept;
Status magnitudes(Queue& queue, const PanelCall& call) noexcept;
Status triangle_alone(Queue& queue, const PanelCall& call) noexcept;
Status triangle_terms(Queue& queue, const PanelCall& call) noexcept;
Status least_magnitude(Queue& queue, const PanelCall& call) noexcept;

} // namespace tessera::cuda
