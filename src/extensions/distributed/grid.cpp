/// Grids of ranks: their communicators, and the choice of the best one.

#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <tessera/backend/out_of_memory.hpp>
#include <tessera/distributed/distributed.hpp>

#include "agreement.hpp"
#include "find_mpi.hpp"
#include "grid_state.hpp"

namespace tessera::detail {
namespace {

using distributed::Communicator;
using distributed::EqualArgument;

std::string text_of(const GridShape& shape) {
  return std::to_string(shape.rows) + "×" + std::to_string(shape.cols) + "×" + std::to_string(shape.layers);
}

Status check(const GridShape& shape, const Communicator& world) {
  if (shape.rows < 1 || shape.cols < 1 || shape.layers < 1)
    return {StatusCode::InvalidArgument, "rows, columns and layers must be at least 1, and they are " + text_of(shape)};
  const double ranks = static_cast<double>(shape.rows) * shape.cols * shape.layers;
  if (ranks > world.size())
    return {StatusCode::InvalidArgument, text_of(shape) + " needs " + std::to_string(static_cast<long long>(ranks)) +
                                             " ranks, and the communicator has " + std::to_string(world.size()) +
                                             "; start the program with more ranks, or make a smaller grid"};
  return {};
}

std::shared_ptr<GridState> complete(std::unique_ptr<Communicator> world, const GridShape& shape) {
  const EqualArgument arguments[] = {
      {"rows", std::int64_t{shape.rows}}, {"cols", std::int64_t{shape.cols}}, {"layers", std::int64_t{shape.layers}}};
  throw_if_failed(agree(*world, "grid", check(shape, *world), arguments));
  auto grid = std::make_shared<GridState>();
  grid->shape = shape;
  grid->world = std::move(world);
  const bool placed = grid->has_place();
  const int layer = grid->layer() * grid->layer_size();
  Status status = grid->world->split(placed ? layer + grid->row_of_rank() : -1, grid->col_of_rank(), grid->row);
  if (status.ok())
    status = grid->world->split(placed ? layer + grid->col_of_rank() : -1, grid->row_of_rank(), grid->col);
  throw_if_failed(agree(*grid->world, "grid", status));
  return grid;
}

/// Returns how many elements the ranks of a grid receive in a product whose matrices lie on the grid as C needs them;
/// docs/distributed.md derives it.
double elements_received(const GridShape& grid, double m, double n, double k) {
  const double moved = m * k * (grid.cols - 1) + k * n * (grid.rows - 1);
  const double to_layers = (m * k + k * n) * (grid.layers - 1) / grid.layers;
  return moved + to_layers + m * n * (grid.layers - 1);
}

/// Chooses among the grids with all ranks, of which none is left without rows, columns or segments if that can be had.
GridShape best_shape(int ranks, Index m, Index n, Index k) {
  const Index segments = (k + canonical_segment - 1) / canonical_segment;
  GridShape best;
  double least = std::numeric_limits<double>::infinity();
  for (const bool all_busy : {true, false}) {
    for (int rows = 1; rows <= ranks; ++rows)
      for (int cols = 1; rows * cols <= ranks; ++cols) {
        if (ranks % (rows * cols) != 0) continue;
        const GridShape shape{rows, cols, ranks / (rows * cols)};
        if (all_busy && (rows > m || cols > n || shape.layers > segments)) continue;
        const double received =
            elements_received(shape, static_cast<double>(m), static_cast<double>(n), static_cast<double>(k));
        if (received < least) {
          least = received;
          best = shape;
        }
      }
    if (least < std::numeric_limits<double>::infinity()) break;
  }
  return best;
}

void check_time_limit(double time_limit) {
  if (!(time_limit > 0) || !std::isfinite(time_limit))
    throw InvalidArgument("grid: time_limit = " + std::to_string(time_limit) +
                          " s; pass the seconds that a rank may wait for another one, more than 0");
}

} // namespace

std::shared_ptr<GridState> make_grid(MpiHandle comm, const GridShape& shape, double time_limit) try {
  check_time_limit(time_limit);
  return complete(distributed::open_communicator(comm, time_limit), shape);
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

std::shared_ptr<GridState> make_grid_of(MpiHandle comm, const std::vector<int>& ranks, const GridShape& shape,
                                        double time_limit) try {
  check_time_limit(time_limit);
  std::unique_ptr<Communicator> world;
  throw_if_failed(distributed::mpi_of_process().open_part(comm.address, comm.size, ranks.data(),
                                                          static_cast<int>(ranks.size()), time_limit, world));
  return complete(std::move(world), shape);
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

int rank_in_communicator(MpiHandle comm) { return distributed::mpi_of_process().rank_in(comm.address, comm.size); }

std::size_t size_of_communicator() { return distributed::mpi_of_process().comm_size; }

bool allows_threads(const GridState& grid) noexcept {
  return grid.world->thread_level() != distributed::ThreadLevel::Single;
}

std::shared_ptr<GridState> make_best_grid(MpiHandle comm, Index m, Index n, Index k, double time_limit) try {
  check_time_limit(time_limit);
  auto world = distributed::open_communicator(comm, time_limit);
  Status sizes;
  if (m < 0 || n < 0 || k < 0)
    sizes = {StatusCode::InvalidArgument, "sizes must not be negative: m = " + std::to_string(m) +
                                              ", n = " + std::to_string(n) + ", k = " + std::to_string(k)};
  const EqualArgument arguments[] = {{"m", m}, {"n", n}, {"k", k}};
  throw_if_failed(agree(*world, "Grid::best", sizes, arguments));
  const int ranks = world->size();
  return complete(std::move(world), best_shape(ranks, m, n, k));
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

MpiHandle start_mpi() try {
  MpiHandle world{nullptr, 0};
  world.address = distributed::mpi_of_this_start().start(world.size);
  if (world.address == nullptr) throw BackendUnavailable("distributed matrices: MPI_Init_thread failed");
  return world;
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

void stop_mpi() noexcept { distributed::mpi_of_this_start().stop(); }

/// Numbers that are not negative are in the order of their bits.
double largest_of(GridState& grid, double number) {
  auto bits = std::bit_cast<std::int64_t>(number);
  throw_if_failed(grid.world->largest(&bits, 1));
  return std::bit_cast<double>(bits);
}

GridShape shape_of(const GridState& grid) noexcept { return grid.shape; }
int rank_in(const GridState& grid) noexcept { return grid.world->rank(); }
int ranks_of(const GridState& grid) noexcept { return grid.world->size(); }

} // namespace tessera::detail
