/// The micro-kernels of every instruction set that this machine has: each sum is the chain of multiply-adds that the
/// contract asks for, and nothing is stored beside the tile.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <tessera/random.hpp>

#include "cpu/gemm/common/microkernel.hpp"
#include "reference/elementwise/complex_number.hpp"

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

/// What a tile may become of its sums. Without imaginary parts factors are of real numbers.
template <class T>
std::vector<TileStore<T>> all_stores(bool is_complex) {
  std::vector<TileStore<T>> stores{{},
                                   {.adds = true},
                                   {.is_scaled = true, .alpha = T(-0.75)},
                                   {.adds = true, .is_scaled = true, .alpha = T(0.3)},
                                   {.is_scaled = true, .alpha = T(0.3), .beta = T(0.7)}};
  for (const TileStore<T>& real : std::vector(stores)) {
    if (!is_complex || !real.is_scaled) continue;
    stores.push_back(real);
    stores.back().alpha_imaginary = T(0.6);
    if (real.beta == T{0}) continue;
    stores.push_back(stores.back());
    stores.back().beta_imaginary = T(-0.2);
    stores.push_back(stores.back());
    stores.back().beta = T{0};
  }
  return stores;
}

/// Returns the number that a number of the tile becomes.
template <class T>
ComplexNumber<T> stored(const TileStore<T>& store, ComplexNumber<T> sum, const ComplexNumber<T>& old) {
  if (store.adds) sum = {old.re + sum.re, old.im + sum.im};
  if (!store.is_scaled) return sum;
  sum = scaled({store.alpha, store.alpha_imaginary}, sum);
  const ComplexNumber<T> beta{store.beta, store.beta_imaginary};
  return beta.re == T{0} && beta.im == T{0} ? sum : added(beta, old, sum);
}

/// Counts the numbers of rows×cols that are not what they become. Beside them, nothing may have changed.
template <class T, class Sum>
Index count_wrong(const TileStore<T>& store, int rows, int cols, Index ld, const std::vector<T>& before,
                  const std::vector<T>& after, Sum sum) {
  Index wrong = 0;
  for (Index r = 0; r * ld < static_cast<Index>(before.size()); ++r)
    for (Index j = 0; j < ld; ++j) {
      const auto at = static_cast<std::size_t>(r * ld + j);
      const T right = r < rows && j < cols ? stored(store, {sum(r, j), T{0}}, {before[at], T{0}}).re : before[at];
      wrong += after[at] == right ? 0 : 1;
    }
  return wrong;
}

/// Checks the tile of a micro-kernel of complex numbers, with a strip of A of `rows` rows and all columns.
template <class T>
void check_complex_tile(const MicroKernel<T>& kernel, int rows, Index numbers, const TileStore<T>& store) {
  const Index m = kernel.tile_m, n = kernel.tile_n / 2, ld = kernel.tile_n + 3;
  const std::vector<T> a = random_numbers<T>(2 * numbers * m, 4), from = random_numbers<T>(2 * numbers * n, 5);
  const std::vector<T> before = random_numbers<T>((rows + 1) * ld, 6);
  std::vector<T> memory(from.size() + 16), c = before;
  T* b = memory.data();
  while (reinterpret_cast<std::uintptr_t>(b) % 64 != 0) ++b;
  std::copy(from.begin(), from.end(), b);
  kernel.multiply(rows, 2 * numbers, a.data(), b, c.data(), ld, store, b);
  Index wrong = 0;
  for (Index r = 0; r < rows; ++r)
    for (Index j = 0; j < n; ++j) {
      ComplexNumber<T> sum{0, 0};
      for (Index p = 0; p < numbers; ++p) {
        const T* const x = a.data() + 2 * p * m + r;
        const T* const y = b + 2 * p * n + j;
        sum = {std::fma(-x[m], y[n], std::fma(x[0], y[0], sum.re)), std::fma(x[m], y[0], std::fma(x[0], y[n], sum.im))};
      }
      const auto at = static_cast<std::size_t>(r * ld + 2 * j);
      const ComplexNumber<T> right = stored(store, sum, {before[at], before[at + 1]});
      wrong += c[at] == right.re && c[at + 1] == right.im ? 0 : 1;
    }
  for (Index at = 0; at < (rows + 1) * ld; ++at)
    if (at / ld == rows || at % ld >= kernel.tile_n)
      wrong += c[static_cast<std::size_t>(at)] == before[static_cast<std::size_t>(at)] ? 0 : 1;
  BOOST_TEST(wrong == 0, rows << " rows, k = " << numbers << ": " << wrong << " are wrong");
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

BOOST_AUTO_TEST_CASE_TEMPLATE(sums_become_elements_of_c, T, Types) {
  for_each_kernel<T>([](const MicroKernel<T>& kernel) {
    for (const TileStore<T>& store : all_stores<T>(false))
      for (int rows = 1; rows <= 3; ++rows)
        for (int cols = 1; cols <= 35; ++cols) {
          const Index ld = cols + 3;
          const std::vector<T> sums = random_numbers<T>(rows * cols, 7), before = random_numbers<T>((rows + 1) * ld, 8);
          std::vector<T> c = before;
          kernel.store(rows, cols, sums.data(), cols, c.data(), ld, store);
          const Index wrong = count_wrong(store, rows, cols, ld, before, c, [&](Index r, Index j) {
            return sums[static_cast<std::size_t>(r * cols + j)];
          });
          BOOST_TEST(wrong == 0, rows << " rows, " << cols << " columns: " << wrong << " are wrong");
        }
  });
}

BOOST_AUTO_TEST_CASE_TEMPLATE(tiles_of_complex_numbers_have_the_bits_of_the_chains, T, Types) {
  for_each_kernel<T>([](const MicroKernel<T>& kernel) {
    if (kernel.of_complex == nullptr) return;
    for (const TileStore<T>& store : all_stores<T>(true))
      for (int rows = 1; rows <= kernel.of_complex->tile_m; ++rows)
        for (const Index numbers : {1, 2, 7}) check_complex_tile(*kernel.of_complex, rows, numbers, store);
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
