/// The micro-kernels that read operands where they are, of every instruction set that this machine has: each sum is the
/// chain of multiply-adds that the contract asks for, and nothing is stored beside the tile.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <tessera/random.hpp>

#include "cpu/gemm/common/microkernel.hpp"

using namespace tessera;
using namespace tessera::cpu;

namespace {

using Types = std::tuple<float, double>;

template <class T>
std::vector<T> random_numbers(Index count, std::uint64_t seed) {
  std::vector<T> numbers;
  for (Index e = 0; e < count; ++e)
    numbers.push_back(random_element<T>(Distribution::Uniform, seed, static_cast<std::uint64_t>(e), T{-1}, T{1}));
  return numbers;
}

/// The operands of a tile, which are as large as they must be: a read beyond them is one beyond the vector.
template <class T>
struct Operands {
  Index rows, cols, k;
  bool b_across; ///< the columns of B lie along k
  std::vector<T> a = random_numbers<T>(rows * k, 1);
  std::vector<T> b = random_numbers<T>(cols * k, 2);

  T sum(Index r, Index c) const {
    T total{0};
    for (Index p = 0; p < k; ++p)
      total = std::fma(a[static_cast<std::size_t>(r * k + p)],
                       b[static_cast<std::size_t>(b_across ? c * k + p : p * cols + c)], total);
    return total;
  }
};

/// Calls test(micro-kernel) for each instruction set of this machine.
template <class T, class Test>
void for_each_kernel(Test test) {
  const Isa best = detect_isa();
  for (const Isa isa : known_isas()) {
    if (isa > best) continue;
    BOOST_TEST_CONTEXT(to_string(isa)) { test(micro_kernel<T>(isa)); }
  }
}

/// Computes a tile, and compares its sums and the elements around it.
template <class T>
void check_tile(const Operands<T>& x, void (*multiply)(const DirectTile<T>&)) {
  constexpr T untouched{77};
  const Index ld = x.cols + 3;
  std::vector<T> c(static_cast<std::size_t>((x.rows + 1) * ld), untouched);
  multiply({.rows = static_cast<int>(x.rows),
            .cols = static_cast<int>(x.cols),
            .k = x.k,
            .a = x.a.data(),
            .a_row = x.k,
            .a_step = 1,
            .b = x.b.data(),
            .b_step = x.b_across ? 1 : x.cols,
            .b_col = x.b_across ? x.k : 1,
            .b_ahead = 0,
            .more = false,
            .tile = c.data(),
            .ld = ld});
  Index wrong = 0;
  for (Index r = 0; r <= x.rows; ++r)
    for (Index j = 0; j < ld; ++j) {
      const bool inside = r < x.rows && j < x.cols;
      wrong += c[static_cast<std::size_t>(r * ld + j)] == (inside ? x.sum(r, j) : untouched) ? 0 : 1;
    }
  BOOST_TEST(wrong == 0, x.rows << " rows, " << x.cols << " columns, k = " << x.k << ": " << wrong << " are wrong");
}

} // namespace

BOOST_AUTO_TEST_SUITE(microkernels)

BOOST_AUTO_TEST_CASE_TEMPLATE(tiles_that_transpose_b_have_the_bits_of_the_chain, T, Types) {
  for_each_kernel<T>([](const MicroKernel<T>& kernel) {
    for (Index rows = 1; rows <= kernel.transposing_rows; ++rows)
      for (Index cols = 1; cols <= kernel.transposing_cols; ++cols)
        for (const Index k : {1, 3, 8, 16, 21, 37})
          check_tile<T>({.rows = rows, .cols = cols, .k = k, .b_across = true}, kernel.multiply_transposing);
  });
}

BOOST_AUTO_TEST_CASE_TEMPLATE(tiles_of_a_b_in_place_have_the_bits_of_the_chain, T, Types) {
  for_each_kernel<T>([](const MicroKernel<T>& kernel) {
    for (int rows = 1; rows <= kernel.direct_rows; ++rows)
      for (int cols = 1; cols <= std::min(kernel.direct_cols(rows), 70); ++cols)
        for (const Index k : {1, 4, 9})
          check_tile<T>({.rows = rows, .cols = cols, .k = k, .b_across = false}, kernel.multiply_direct);
  });
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_tile_is_transposed, T, Types) {
  for_each_kernel<T>([](const MicroKernel<T>& kernel) {
    constexpr T untouched{77};
    for (int rows = 1; rows <= 33; ++rows)
      for (int cols = 1; cols <= 35; ++cols) {
        const std::vector<T> from = random_numbers<T>(rows * cols, 3);
        const Index ld = rows + 2;
        std::vector<T> to(static_cast<std::size_t>((cols + 1) * ld), untouched);
        kernel.transpose(rows, cols, from.data(), cols, to.data(), ld);
        Index wrong = 0;
        for (Index c = 0; c <= cols; ++c)
          for (Index r = 0; r < ld; ++r) {
            const bool inside = c < cols && r < rows;
            const T right = inside ? from[static_cast<std::size_t>(r * cols + c)] : untouched;
            wrong += to[static_cast<std::size_t>(c * ld + r)] == right ? 0 : 1;
          }
        BOOST_TEST(wrong == 0, rows << " rows, " << cols << " columns: " << wrong << " are wrong");
      }
  });
}

BOOST_AUTO_TEST_SUITE_END()
