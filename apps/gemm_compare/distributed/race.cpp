#include "race.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <fmt/format.h>

#include <tessera/detail/stopwatch.hpp>
#include <tessera/distributed/distributed.hpp>
#include <tessera/gemm.hpp>

#include "common/terminal.hpp"
#include "report.hpp"
#include "reporters/reporter.hpp"

namespace tessera::compare_app {
namespace {

/// The operands of one shape, on one grid. Rank 0 has them whole besides, with C as one rank computes it.
template <class T>
struct DistributedOperands {
  DistributedMatrix<T> a, b, c;
  Matrix<T> whole_c;
  double seconds_of_one_rank = 0; ///< the fastest of the runs on rank 0, from the host's memory to it
};

template <class T>
DistributedOperands<T> make_operands(const Grid& grid, const GemmShape& shape, const Options& options,
                                     const DistributedOptions& how) {
  const bool here = grid.rank() == 0;
  const auto random = [&](Index rows, Index cols, std::uint64_t seed) {
    return here ? Matrix<T>::random(rows, cols, Seed{options.seed + seed}) : Matrix<T>(0, 0);
  };
  const Matrix<T> a = random(shape.m, shape.k, 0), b = random(shape.k, shape.n, 1);
  const Blocks blocks{options.block, options.block};
  const auto matrix = [&](Index rows, Index cols) {
    if (options.resident) return DistributedMatrix<T>(grid, rows, cols, Residence(how.backend, how.device), blocks);
    return DistributedMatrix<T>(grid, rows, cols, blocks);
  };
  DistributedOperands<T> made{matrix(shape.m, shape.k), matrix(shape.k, shape.n), matrix(shape.m, shape.n),
                              Matrix<T>(0, 0)};
  const GemmOptions one{.backend = how.backend, .threads = how.threads};
  made.a.scatter(a, 0);
  made.b.scatter(b, 0);
  if (here) {
    made.whole_c = Matrix<T>(shape.m, shape.n);
    made.seconds_of_one_rank = measure::fastest_host_seconds(std::max(1, options.repeat), [&] {
      gemm(Op::None, Op::None, shape.m, shape.n, shape.k, Scalar<T>(1), a.data(), a.ld(), b.data(), b.ld(),
           Scalar<T>(0), made.whole_c.data(), made.whole_c.ld(), one);
    });
  }
  made.seconds_of_one_rank = grid.largest(made.seconds_of_one_rank);
  return made;
}

/// Compares a result with the one of one rank.
template <class T>
void compare(const Matrix<T>& x, const Matrix<T>& y, EngineStanding& standing) {
  using Bits = std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                  std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>;
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < x.cols(); ++j) {
      if (std::bit_cast<Bits>(x(i, j)) == std::bit_cast<Bits>(y(i, j))) continue;
      ++standing.differing;
      const double difference = std::abs(static_cast<double>(x(i, j)) - static_cast<double>(y(i, j)));
      if (!(difference <= standing.largest_difference)) standing.largest_difference = difference;
    }
}

/// Returns a difference that rounding in any order does not reach with operands in [−1, 1), where a wrong sum is off by
/// some √k.
double tolerance(DType type, Index k) {
  return 8 * static_cast<double>(k) * (scalar_of(type) == DType::F64 ? 0x1p-53 : 0x1p-24);
}

/// The formula of docs/distributed.md, in bytes; the blocks of the race lie as C needs them.
double bytes_by_formula(const Grid& grid, const GemmShape& shape, std::size_t element) {
  const auto m = static_cast<double>(shape.m), n = static_cast<double>(shape.n), k = static_cast<double>(shape.k);
  const double segments = std::ceil(k / 1024), layers = std::min<double>(grid.layers(), std::max(segments, 1.0));
  const double on_layer_0 = std::min(k, 1024 * (segments - std::floor(segments * (layers - 1) / layers)));
  const double last = layers > 1 ? k - 1024 * std::floor(segments * (layers - 1) / layers) : on_layer_0;
  const double elsewhere = layers > 1 ? (m + n) * (k - last) : 0;
  return static_cast<double>(element) *
         (m * k * (grid.cols() - 1) + k * n * (grid.rows() - 1) + elsewhere + m * n * (layers - 1));
}

/// Multiplies by one engine, once more than there are samples. All ranks return alike.
template <class T>
void sample_engine(const Grid& grid, int repeat, DistributedOperands<T>& x, const DistributedOptions& how,
                   EngineStanding& standing) {
  DistributedReport report;
  for (int run = 0; run <= repeat; ++run) {
    grid.largest(0); // the ranks begin together
    const double seconds =
        grid.largest(measure::host_seconds([&] { report = gemm(Scalar<T>(1), x.a, x.b, Scalar<T>(0), x.c, how); }));
    if (run > 0) standing.seconds.push_back(seconds); // the first one warms up
  }
  for (int rank = 0; rank < grid.ranks(); ++rank)
    standing.bytes_received += grid.largest(rank == grid.rank() ? static_cast<double>(report.bytes_received) : 0.0);
  standing.counts_bytes = report.counts_bytes;
  standing.seconds_waiting = grid.largest(report.seconds_waiting);
  standing.seconds_multiplying = grid.largest(report.seconds_multiplying);
}

/// Times one engine and compares its result with the one of one rank.
template <class T>
EngineStanding race_engine(const Grid& grid, const GemmShape& shape, int repeat, DistributedOperands<T>& x,
                           const DistributedEngine& engine, DistributedOptions how) {
  EngineStanding standing{.engine = std::string(engine.name),
                          .canonical = engine.canonical,
                          .type = dtype_of<T>,
                          .shape = shape,
                          .grid = {grid.rows(), grid.cols(), grid.layers()},
                          .seconds_of_one_rank = x.seconds_of_one_rank};
  how.engine = engine.name;
  try {
    sample_engine(grid, repeat, x, how, standing);
  } catch (const KernelRejected& error) {
    standing.problem = std::string("rejected: ") + error.what();
    return standing;
  } catch (const DeviceError& error) {
    if (engine.canonical) throw;
    standing.problem = std::string("failed: ") + error.what();
    return standing;
  }
  if (standing.counts_bytes) standing.bytes_by_formula = bytes_by_formula(grid, shape, sizeof(T));
  const Matrix<T> gathered = x.c.gather(0);
  if (grid.rank() == 0) compare(gathered, x.whole_c, standing);
  standing.wrong =
      engine.canonical ? standing.differing > 0 : !(standing.largest_difference <= tolerance(dtype_of<T>, shape.k));
  if (standing.wrong) standing.problem = "wrong";
  return standing;
}

/// Writes the JSON so far, so that a race that is ended early leaves its results.
void write_results(const std::vector<EngineStanding>& standings, const Options& options) {
  if (!options.json.empty()) write_report(options.json, to_json(standings, options).dump(1) + "\n");
}

/// Returns how a rank's local products are computed: the ranks take the devices in turn.
DistributedOptions local_options(const Grid& grid, const Options& options) {
  DistributedOptions how{.threads = options.threads.empty() ? 0 : options.threads.front()};
  how.device_messages = options.device_messages;
  if (!options.backends.empty()) how.backend = options.backends.front().backend;
  if (!options.devices.empty())
    how.device = options.devices[static_cast<std::size_t>(grid.rank()) % options.devices.size()];
  return how;
}

template <class T>
void race_shape(const MpiSession& mpi, const GemmShape& shape, const GridWord& word, const Options& options,
                std::vector<EngineStanding>& standings) {
  const Grid grid(mpi, word.rows, word.cols, word.layers);
  const DistributedOptions how = local_options(grid, options);
  auto operands = make_operands<T>(grid, shape, options, how);
  if (grid.rank() == 0 && options.table_on_stdout())
    fmt::print("{}", table_head(shape, dtype_of<T>, operands.seconds_of_one_rank));
  for (const DistributedEngine& engine : distributed_engines()) {
    standings.push_back(race_engine(grid, shape, std::max(1, options.repeat), operands, engine, how));
    if (grid.rank() != 0) continue;
    if (options.table_on_stdout()) fmt::print("{}", table_line(standings.back()));
    apps::flush_stdout();
    if (options.json != "-") write_results(standings, options);
  }
}

/// Returns the best grid of the ranks.
GridWord best_grid(const MpiSession& mpi, const GemmShape& shape) {
  const Grid grid = Grid::best(mpi, shape.m, shape.n, shape.k);
  return {grid.rows(), grid.cols(), grid.layers()};
}

} // namespace

bool race_engines(const Options& options) {
  const MpiSession mpi;
  std::vector<EngineStanding> standings;
  for (const DType type : options.types)
    for (const GemmShape& shape : options.shapes) {
      const std::vector<GridWord> grids = options.grids.empty() ? std::vector{best_grid(mpi, shape)} : options.grids;
      for (const GridWord& grid : grids)
        visit(type, [&]<class T>(std::type_identity<T>) { race_shape<T>(mpi, shape, grid, options, standings); });
    }
  const Grid everyone(mpi, 1, 1);
  if (everyone.rank() == 0 && options.json == "-") write_results(standings, options);
  const bool wrong = std::any_of(standings.begin(), standings.end(), [](const auto& one) { return one.wrong; });
  return everyone.largest(wrong ? 1 : 0) == 0;
}

} // namespace tessera::compare_app
