/// Random products on random grids, whose bits must be the bits of one rank. DISTRIBUTED_CASES says how many, and
/// DISTRIBUTED_SEED from which number on.

#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "ranks.hpp"

namespace tessera::test {
namespace {

int number_of(const char* variable, int otherwise) {
  const char* value = std::getenv(variable);
  return value != nullptr ? std::atoi(value) : otherwise;
}

/// Every rank draws the same numbers.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : generator_(seed) {}
  Index in(Index low, Index high) { return std::uniform_int_distribution<Index>(low, high)(generator_); }
  bool one_of(int count) { return in(1, count) == 1; }
  template <class X>
  X among(std::initializer_list<X> list) {
    return *(list.begin() + in(0, static_cast<Index>(list.size()) - 1));
  }
  /// A size: often tiny, sometimes none, sometimes at the border of blocks and segments.
  Index size(Index most) { return one_of(12) ? 0 : one_of(3) ? in(1, 4) : in(1, most); }
  Index block() { return one_of(3) ? in(1, 8) : one_of(2) ? in(1, 100) : in(1, 1500); }

 private:
  std::mt19937_64 generator_;
};

struct Shape {
  int rows, cols, layers;
};
Shape draw_shape(Draw& draw, int ranks) {
  const int rows = static_cast<int>(draw.in(1, ranks));
  const int cols = static_cast<int>(draw.in(1, ranks / rows));
  return {rows, cols, static_cast<int>(draw.in(1, ranks / (rows * cols)))};
}

/// Some elements are NaN, Inf or −0, and none is tiny.
template <class T>
Matrix<T> draw_with_odd_numbers(Draw& draw, Index rows, Index cols, Seed seed) {
  Matrix<T> x = Matrix<T>::random(rows, cols, seed);
  constexpr T inf = std::numeric_limits<T>::infinity();
  for (Index count = x.empty() ? 0 : draw.in(1, 20); count > 0; --count)
    x(draw.in(0, rows - 1), draw.in(0, cols - 1)) =
        draw.among<T>({std::numeric_limits<T>::quiet_NaN(), inf, -inf, T(-0.0), T(-0.0), T(0)});
  return x;
}

template <class T>
Matrix<T> draw_matrix(Draw& draw, Index rows, Index cols) {
  const Seed seed{static_cast<std::uint64_t>(draw.in(0, 1 << 30))};
  switch (draw.in(0, 5)) {
    case 0:
      return Matrix<T>::random(rows, cols, seed, Distribution::Special, T(0.001), T(0.05));
    case 1:
      return Matrix<T>::random(rows, cols, seed, Distribution::Special, T(0), T(0.5));
    case 2:
      return Matrix<T>::random(rows, cols, seed, Distribution::Wide, T(-20), T(20));
    default:
      return Matrix<T>::random(rows, cols, seed);
  }
}

template <class T>
DistributedMatrix<T> spread(Draw& draw, const Grid& grid, const Matrix<T>& whole, bool transposed, LocalOrder order) {
  const Matrix<T> stored = transposed ? Matrix<T>(whole.transposed()) : Matrix<T>(whole);
  const Blocks blocks{draw.block(), draw.block()};
  DistributedMatrix<T> part(grid, stored.rows(), stored.cols(), blocks, order);
  take_own_part(stored, part);
  return part;
}

/// Gives A and C the blocks that need no copies within the grid, in half of the cases.
template <class T>
DistributedMatrix<T> spread_alike(const Grid& grid, const Matrix<T>& whole, Blocks blocks, LocalOrder order) {
  DistributedMatrix<T> part(grid, whole.rows(), whole.cols(), blocks, order);
  take_own_part(whole, part);
  return part;
}

/// How many products an engine computed, and how many it rejected.
struct Count {
  int computed = 0, rejected = 0;
};

template <class T>
std::string try_case(Draw& draw, MPI_Comm comm, int ranks, std::map<std::string, Count>& engines) {
  const Shape shape = draw_shape(draw, ranks);
  const Index m = draw.size(70), n = draw.size(70);
  const Index k = draw.one_of(10) ? 0 : draw.one_of(2) ? draw.in(1, 300) : draw.in(900, 4200);
  const auto alpha = draw.among<T>({1, 1, -1, 0, T(0.37)}), beta = draw.among<T>({0, 0, 1, -1, T(1.7)});
  const bool alike = draw.one_of(2), transposed_a = !alike && draw.one_of(2), transposed_b = !alike && draw.one_of(2);
  const Matrix<T> a = draw_matrix<T>(draw, m, k), b = draw_matrix<T>(draw, k, n);
  Matrix<T> c = draw_matrix<T>(draw, m, n);
  const auto engine = std::string(draw.among<const char*>({"", "summa", "pblas", "pblas"}));
  const auto any_order = [&] { return draw.one_of(2) ? LocalOrder::RowMajor : LocalOrder::ColumnMajor; };
  const LocalOrder order = any_order();
  const bool one_order = alike || draw.one_of(2);

  const Grid grid(comm, shape.rows, shape.cols, shape.layers);
  const Blocks blocks{draw.block(), draw.block()};
  const Index k_block = draw.block();
  auto dist_a = alike ? spread_alike(grid, a, {blocks.rows, k_block}, order)
                      : spread(draw, grid, a, transposed_a, one_order ? order : any_order());
  auto dist_b = alike ? spread_alike(grid, b, {k_block, blocks.cols}, order)
                      : spread(draw, grid, b, transposed_b, one_order ? order : any_order());
  auto dist_c = alike ? spread_alike(grid, c, blocks, order) : spread(draw, grid, c, false, order);
  const DistributedOptions options{
      .backend = engine == "pblas" ? Backend::Auto : draw.among({Backend::Reference, Backend::Auto}),
      .engine = engine,
      .threads = 1};
  const auto view_a = transposed_a ? dist_a.transposed() : dist_a.view();
  const auto view_b = transposed_b ? dist_b.transposed() : dist_b.view();
  DistributedReport report;
  try {
    report = gemm(alpha, view_a, view_b, beta, dist_c, options);
  } catch (const KernelRejected&) {
    ++engines[engine].rejected;
    return differing_bits(c, dist_c) == 0 ? "" : "a rejected product changed c";
  }
  ++engines[report.engine].computed;

  gemm(alpha, a, b, beta, c, {.backend = Backend::Reference});
  const std::string name = std::to_string(m) + "×" + std::to_string(n) + "×" + std::to_string(k) + " on " +
                           std::to_string(shape.rows) + "×" + std::to_string(shape.cols) + "×" +
                           std::to_string(shape.layers) + " of " + std::to_string(ranks) + ", engine " + report.engine;
  if (const Index differ = differing_bits(c, dist_c); differ != 0)
    return name + ": " + std::to_string(differ) + " elements differ";
  if (report.bytes_received != report.bytes_expected)
    return name + ": received " + std::to_string(report.bytes_received) + " bytes, expected " +
           std::to_string(report.bytes_expected);
  if (report.allocated_bytes != report.planned_bytes)
    return name + ": allocated " + std::to_string(report.allocated_bytes) + " bytes, planned " +
           std::to_string(report.planned_bytes);
  return {};
}

} // namespace

BOOST_AUTO_TEST_CASE(random_products_have_the_bits_of_one_rank) {
  std::map<std::string, Count> engines;
  const int cases = number_of("DISTRIBUTED_CASES", 60), first = number_of("DISTRIBUTED_SEED", 0);
  for (int ranks = 1; ranks <= world_size(); ++ranks) {
    const FirstRanks members(ranks);
    if (!members.holds_this_rank()) continue;
    for (int number = first + ranks; number < first + cases; number += world_size()) {
      Draw draw(static_cast<std::uint64_t>(number));
      const std::string wrong = draw.one_of(2) ? try_case<float>(draw, members.comm(), ranks, engines)
                                               : try_case<double>(draw, members.comm(), ranks, engines);
      BOOST_TEST(wrong.empty(), "case " << number << ": " << wrong);
    }
  }
  if (world_rank() != 0) return;
  for (const auto& [engine, count] : engines)
    std::printf("%s: %d products computed, %d rejected\n", engine.empty() ? "(no product)" : engine.c_str(),
                count.computed, count.rejected);
  BOOST_TEST(engines["summa"].computed > 0);
  if (std::getenv("DISTRIBUTED_SCALAPACK") != nullptr) BOOST_TEST(engines["pblas"].computed > 0);
}

} // namespace tessera::test
