/// Random products on random grids, whose bits must be the bits of one rank. DISTRIBUTED_CASES says how many, and
/// DISTRIBUTED_SEED from which number on.

#include <algorithm>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "ranks.hpp"

namespace tessera::test {
namespace {

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

template <class T>
using Part = typename detail::DistributedTypeOf<T>::Part;

/// Random numbers; in some matrices there are NaN, Inf, −0 and 0 among them, or magnitudes from the least to the most.
template <class T>
Whole<T> draw_matrix(Draw& draw, Index rows, Index cols) {
  using Number = Scalar<Part<T>>;
  const Seed seed{static_cast<std::uint64_t>(draw.in(0, 1 << 30))};
  const Number most = sizeof(Part<T>) == 2 ? Number(6) : Number(20);
  switch (draw.in(0, 5)) {
    case 0:
      return Whole<T>::random(rows, cols, seed, Distribution::Special, Number(0.001), Number(0.05));
    case 1:
      return Whole<T>::random(rows, cols, seed, Distribution::Special, Number(0), Number(0.5));
    case 2:
      return Whole<T>::random(rows, cols, seed, Distribution::Wide, -most, most);
    default:
      return Whole<T>::random(rows, cols, seed);
  }
}

template <class T>
DistributedFactor<T> draw_factor(Draw& draw, std::initializer_list<double> numbers) {
  using Number = Scalar<Part<T>>;
  const auto real = static_cast<Number>(draw.among(numbers));
  if constexpr (DistributedComplex<T>)
    return {real, draw.one_of(2) ? Number(0) : static_cast<Number>(draw.among({0.5, -1.0}))};
  else
    return real;
}

/// An operand or C over the ranks, in memory of the library's or of the test's.
template <class T>
struct Spread {
  std::vector<T> memory;
  DistributedMatrix<T> matrix;
};

/// Spreads a matrix. In some cases it lies in the test's memory, with room between the lines.
template <class T>
Spread<T> spread(Draw& draw, const Grid& grid, const Whole<T>& whole, Blocks blocks, LocalOrder order) {
  Spread<T> x{{}, DistributedMatrix<T>(grid, whole.rows(), whole.cols(), blocks, order)};
  if (draw.one_of(3)) {
    const bool by_rows = order == LocalOrder::RowMajor;
    const Index ld = x.matrix.ld() + draw.in(0, 5), lines = by_rows ? x.matrix.local_rows() : x.matrix.local_cols();
    x.memory.resize(static_cast<std::size_t>(ld * lines));
    x.matrix =
        DistributedMatrix<T>::wrap(grid, whole.rows(), whole.cols(), x.matrix.blocks(), x.memory.data(), ld, order);
  }
  take_own_part(whole, x.matrix);
  return x;
}

/// Returns op(x).
template <class T>
Whole<T> stored(const Whole<T>& x, Op op) {
  Whole<T> y(op == Op::None ? x.rows() : x.cols(), op == Op::None ? x.cols() : x.rows());
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < x.cols(); ++j) {
      T& to = op == Op::None ? y(i, j) : y(j, i);
      to = x(i, j);
      if constexpr (DistributedComplex<T>)
        if (op == Op::ConjugateTranspose) to = std::conj(to);
    }
  return y;
}

template <class T>
DistributedView<T> view_of(const DistributedMatrix<T>& x, Op op) {
  if constexpr (DistributedComplex<T>)
    if (op == Op::ConjugateTranspose) return x.conjugate_transposed();
  return op == Op::None ? x.view() : x.transposed();
}

/// Computes this rank's elements of C := alpha·A·B + beta·C by a product on one rank, and counts the differing ones.
/// The bits of an element do not depend on the elements around it.
template <class T>
Index differing_from_one_rank(DistributedFactor<T> alpha, const Whole<T>& a, const Whole<T>& b,
                              DistributedFactor<T> beta, const Whole<T>& c, const DistributedMatrix<T>& result) {
  const Index m = result.local_rows(), n = result.local_cols(), k = a.cols();
  Whole<T> rows(m, k), cols(k, n), expected(m, n), turned(n, m);
  for (Index i = 0; i < m; ++i) std::copy_n(&a(result.global_row(i), 0), k, rows.data() + i * k);
  for (Index p = 0; p < k; ++p)
    for (Index j = 0; j < n; ++j) cols(p, j) = b(p, result.global_col(j));
  for (Index i = 0; i < m; ++i)
    for (Index j = 0; j < n; ++j) expected(i, j) = turned(j, i) = c(result.global_row(i), result.global_col(j));
  const GemmOptions options{.backend = Backend::Reference};
  using Number = Part<T>;
  const auto multiply = [&](Op op, Index left, Index right, const Whole<T>& x, const Whole<T>& y, Whole<T>& z) {
    gemm<Number>(op, op, left, right, k, alpha, x.data(), x.ld(), y.data(), y.ld(), beta, z.data(), z.ld(), options);
  };
  if (result.order() == LocalOrder::RowMajor)
    multiply(Op::None, m, n, rows, cols, expected);
  else
    multiply(Op::Transpose, n, m, cols, rows, turned);
  Index differ = 0;
  for (Index i = 0; i < m; ++i)
    for (Index j = 0; j < n; ++j)
      if (!same_bits(result.local(i, j), result.order() == LocalOrder::RowMajor ? expected(i, j) : turned(j, i)))
        ++differ;
  return differ;
}

/// How many products an engine computed, how many of them had elements to multiply, and how many it rejected.
struct Count {
  int computed = 0, multiplied = 0, rejected = 0;
};

template <class T>
std::string try_case(Draw& draw, MPI_Comm comm, int ranks, std::map<std::string, Count>& engines) {
  const Shape shape = draw_shape(draw, ranks);
  const Index m = draw.size(70), n = draw.size(70);
  const Index k = draw.one_of(10) ? 0 : draw.one_of(2) ? draw.in(1, 300) : draw.in(900, 4200);
  const auto alpha = draw_factor<T>(draw, {1, 1, -1, 0, 0.37}), beta = draw_factor<T>(draw, {0, 0, 1, -1, 1.7});
  const bool alike = draw.one_of(2); // A and B lie as C needs them
  const auto draw_op = [&] {
    const Op turned = DistributedComplex<T> && draw.one_of(2) ? Op::ConjugateTranspose : Op::Transpose;
    return !alike && draw.one_of(2) ? turned : Op::None;
  };
  const Op op_a = draw_op(), op_b = draw_op();
  const auto a = draw_matrix<T>(draw, m, k), b = draw_matrix<T>(draw, k, n), c = draw_matrix<T>(draw, m, n);
  const auto engine = std::string(draw.among<const char*>({"", "summa", "pblas", "pblas"}));
  const auto any_order = [&] { return draw.one_of(2) ? LocalOrder::RowMajor : LocalOrder::ColumnMajor; };
  const LocalOrder order = any_order();
  const bool one_order = alike || draw.one_of(2);

  const Grid grid(comm, shape.rows, shape.cols, shape.layers);
  const auto any_blocks = [&] { return Blocks{draw.block(), draw.block()}; };
  const Blocks blocks = any_blocks();
  const Index k_block = draw.block();
  auto dist_a = spread(draw, grid, stored(a, op_a), alike ? Blocks{blocks.rows, k_block} : any_blocks(),
                       one_order ? order : any_order());
  auto dist_b = spread(draw, grid, stored(b, op_b), alike ? Blocks{k_block, blocks.cols} : any_blocks(),
                       one_order ? order : any_order());
  auto dist_c = spread(draw, grid, c, blocks, order);
  const DistributedOptions options{
      .backend = engine == "pblas" ? Backend::Auto : draw.among({Backend::Reference, Backend::Auto}),
      .engine = engine,
      .threads = 1,
      .device_messages = engine != "pblas" && draw.one_of(4),
  };
  DistributedReport report;
  try {
    report = gemm(alpha, view_of(dist_a.matrix, op_a), view_of(dist_b.matrix, op_b), beta, dist_c.matrix, options);
  } catch (const KernelRejected&) {
    ++engines[engine].rejected;
    return differing_bits(c, dist_c.matrix) == 0 ? "" : "a rejected product changed c";
  }
  Count& count =
      engines[report.engine + (options.device_messages && !report.engine.empty() ? ", device_messages" : "")];
  ++count.computed;
  if (!report.engine.empty() && m > 0 && n > 0) ++count.multiplied;

  const std::string name = std::to_string(m) + "×" + std::to_string(n) + "×" + std::to_string(k) + " on " +
                           std::to_string(shape.rows) + "×" + std::to_string(shape.cols) + "×" +
                           std::to_string(shape.layers) + " of " + std::to_string(ranks) + ", engine " + report.engine +
                           ", " + (DistributedComplex<T> ? "complex " : "") + std::string(to_string(dtype_of<Part<T>>));
  if (const Index differ = differing_from_one_rank(alpha, a, b, beta, c, dist_c.matrix); differ != 0)
    return name + ": " + std::to_string(differ) + " elements differ";
  if (report.counts_bytes != (report.engine == "summa"))
    return name + (report.counts_bytes ? ": counts bytes" : ": does not count bytes");
  if (report.bytes_received != report.bytes_expected)
    return name + ": received " + std::to_string(report.bytes_received) + " bytes, expected " +
           std::to_string(report.bytes_expected);
  if (report.allocated_bytes != report.planned_bytes)
    return name + ": allocated " + std::to_string(report.allocated_bytes) + " bytes, planned " +
           std::to_string(report.planned_bytes);
  return {};
}

/// Tries a case of a type that the draw chooses.
std::string try_case_of_any_type(Draw& draw, MPI_Comm comm, int ranks, std::map<std::string, Count>& engines) {
  switch (draw.in(0, 7)) {
    case 0:
      return try_case<f16>(draw, comm, ranks, engines);
    case 1:
      return try_case<bf16>(draw, comm, ranks, engines);
    case 2:
      return try_case<std::complex<float>>(draw, comm, ranks, engines);
    case 3:
      return try_case<std::complex<double>>(draw, comm, ranks, engines);
    case 4:
    case 5:
      return try_case<float>(draw, comm, ranks, engines);
    default:
      return try_case<double>(draw, comm, ranks, engines);
  }
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
      const std::string wrong = try_case_of_any_type(draw, members.comm(), ranks, engines);
      BOOST_TEST(wrong.empty(), "case " << number << ": " << wrong);
    }
  }
  if (world_rank() != 0) return;
  for (const auto& [engine, count] : engines)
    std::printf("%s: %d products computed, %d of them with elements, %d rejected\n",
                engine.empty() ? "(alpha or k is zero)" : engine.c_str(), count.computed, count.multiplied,
                count.rejected);
  BOOST_TEST(engines["summa"].multiplied > 0);
  BOOST_TEST(engines["summa, device_messages"].multiplied > 0);
  if (std::getenv("DISTRIBUTED_SCALAPACK") != nullptr) BOOST_TEST(engines["pblas"].multiplied > 0);
}

} // namespace tessera::test
