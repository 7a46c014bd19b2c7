#include "race.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <fmt/format.h>

#include <tessera/detail/stopwatch.hpp>
#include <tessera/distributed.hpp>
#include <tessera/gemm.hpp>

#include "measure/time_summary.hpp"

namespace tessera::compare_app {
namespace {

/// The operands of one shape, on one grid. Rank 0 has them whole besides, with C as one rank computes it.
template <class T>
struct DistributedOperands {
  DistributedMatrix<T> a, b, c;
  Matrix<T> whole_c;
  double seconds_of_one_rank = 0; ///< the fastest of the runs on rank 0, while the other ranks wait
};

template <class T>
DistributedOperands<T> make_operands(const Grid& grid, const Shape& shape, const Options& options,
                                     const GemmOptions& one) {
  const bool here = grid.rank() == 0;
  const auto random = [&](Index rows, Index cols, std::uint64_t seed) {
    return here ? Matrix<T>::random(rows, cols, Seed{options.seed + seed}) : Matrix<T>(0, 0);
  };
  const Matrix<T> a = random(shape.m, shape.k, 0), b = random(shape.k, shape.n, 1);
  DistributedOperands<T> made{
      {grid, shape.m, shape.k}, {grid, shape.k, shape.n}, {grid, shape.m, shape.n}, Matrix<T>(0, 0)};
  made.a.scatter(a, 0);
  made.b.scatter(b, 0);
  if (here) {
    made.whole_c = Matrix<T>(shape.m, shape.n);
    made.seconds_of_one_rank = measure::fastest_host_seconds(
        std::max(1, options.repeat), [&] { gemm(Scalar<T>(1), a, b, Scalar<T>(0), made.whole_c, one); });
  }
  made.seconds_of_one_rank = grid.largest(made.seconds_of_one_rank);
  return made;
}

template <class T>
Index count_differing(const Matrix<T>& x, const Matrix<T>& y) {
  using Bits = std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                  std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>;
  Index count = 0;
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < x.cols(); ++j)
      if (std::bit_cast<Bits>(x(i, j)) != std::bit_cast<Bits>(y(i, j))) ++count;
  return count;
}

/// The formula of docs/distributed.md, in bytes; the blocks of the race lie as C needs them.
double bytes_by_formula(const Grid& grid, const Shape& shape, std::size_t element) {
  const auto m = static_cast<double>(shape.m), n = static_cast<double>(shape.n), k = static_cast<double>(shape.k);
  const double segments = std::ceil(k / 1024), layers = std::min<double>(grid.layers(), std::max(segments, 1.0));
  const double on_layer_0 = std::min(k, 1024 * (segments - std::floor(segments * (layers - 1) / layers)));
  const double last = layers > 1 ? k - 1024 * std::floor(segments * (layers - 1) / layers) : on_layer_0;
  const double elsewhere = layers > 1 ? (m + n) * (k - last) : 0;
  return static_cast<double>(element) *
         (m * k * (grid.cols() - 1) + k * n * (grid.rows() - 1) + elsewhere + m * n * (layers - 1));
}

/// Times one engine; returns false if bits differ.
template <class T>
bool race_engine(const Grid& grid, const Shape& shape, const Options& options, DistributedOperands<T>& x,
                 const DistributedOptions& how) {
  const bool prints = grid.rank() == 0;
  std::vector<double> samples;
  DistributedReport report;
  try {
    for (int run = 0; run <= std::max(1, options.repeat); ++run) {
      grid.largest(0); // the ranks begin together
      const double seconds =
          grid.largest(measure::host_seconds([&] { report = gemm(Scalar<T>(1), x.a, x.b, Scalar<T>(0), x.c, how); }));
      if (run > 0) samples.push_back(seconds); // the first one warms up
    }
  } catch (const KernelRejected& error) {
    if (prints) fmt::print("  {:<8} rejected: {}\n", how.engine, error.what());
    return true;
  }
  double received = 0;
  for (int rank = 0; rank < grid.ranks(); ++rank)
    received += grid.largest(rank == grid.rank() ? static_cast<double>(report.bytes_received) : 0.0);
  const double waiting = grid.largest(report.seconds_waiting), local = grid.largest(report.seconds_multiplying);
  const Matrix<T> gathered = x.c.gather(0);
  const Index differ = prints ? count_differing(gathered, x.whole_c) : 0;
  const double seconds = measure::summarize(samples).median;
  const double workers = grid.rows() * grid.cols() * grid.layers();
  if (prints) {
    const double operations =
        2.0 * static_cast<double>(shape.m) * static_cast<double>(shape.n) * static_cast<double>(shape.k);
    const std::string traffic = how.engine == "pblas" ? fmt::format("{:>10} {:>10}", "-", "-")
                                                      : fmt::format("{:>10.2f} {:>10.2f}", received / 1e6,
                                                                    bytes_by_formula(grid, shape, sizeof(T)) / 1e6);
    fmt::print("  {:<8} {:>4}x{}x{} {:>10.3f} {:>9.2f} {:>9.0f}% {} {:>9.3f} {:>9.3f} {:>8}\n", how.engine, grid.rows(),
               grid.cols(), grid.layers(), seconds * 1e3, operations / seconds / 1e9,
               100 * x.seconds_of_one_rank / (seconds * workers), traffic, waiting * 1e3, local * 1e3, differ);
  }
  return grid.largest(static_cast<double>(differ)) == 0;
}

template <class T>
bool race_shape(const MpiSession& mpi, const Shape& shape, const GridWord& word, const Options& options) {
  const Grid grid(mpi, word.rows, word.cols, word.layers);
  const int threads = options.threads.empty() ? 0 : options.threads.front();
  const Backend backend = options.backends.empty() ? Backend::Auto : options.backends.front().backend;
  auto operands = make_operands<T>(grid, shape, options, {.backend = backend, .threads = threads});
  if (grid.rank() == 0)
    fmt::print("{}x{}x{} {}, one rank {:.3f} ms\n  {:<8} {:>8} {:>10} {:>9} {:>10} {:>10} {:>10} {:>9} {:>9} {:>8}\n",
               shape.m, shape.n, shape.k, to_string(dtype_of<T>), operands.seconds_of_one_rank * 1e3, "engine", "grid",
               "ms", "GFLOP/s", "efficiency", "MB moved", "formula", "wait ms", "local ms", "differ");
  bool equal = true;
  for (const DistributedEngine& engine : distributed_engines())
    equal &= race_engine(grid, shape, options, operands,
                         {.backend = backend, .engine = std::string(engine.name), .threads = threads});
  return equal;
}

/// Returns the best grid of the ranks.
GridWord best_grid(const MpiSession& mpi, const Shape& shape) {
  const Grid grid = Grid::best(mpi, shape.m, shape.n, shape.k);
  return {grid.rows(), grid.cols(), grid.layers()};
}

} // namespace

bool race_engines(const Options& options) {
  const MpiSession mpi;
  bool equal = true;
  for (const DType type : options.types)
    for (const Shape& shape : options.shapes) {
      const std::vector<GridWord> grids = options.grids.empty() ? std::vector{best_grid(mpi, shape)} : options.grids;
      for (const GridWord& grid : grids)
        equal &= visit(type, [&]<class T>(std::type_identity<T>) { return race_shape<T>(mpi, shape, grid, options); });
    }
  return equal;
}

} // namespace tessera::compare_app
