#include <boost/test/unit_test.hpp>

#include "wrong_solutions.hpp"

namespace tessera::lessons::testing {

BOOST_AUTO_TEST_SUITE(wrong_on_processor)

BOOST_AUTO_TEST_CASE(missing_guard_of_rows) {
  expect({"missing guard of the last rows",
          "cpu-04",
          {{"std::min(width, last - i)", "width"}},
          Mistake::WritesOutside,
          {"after the end of C", "m that no tile divides", "guard"}});
}

BOOST_AUTO_TEST_CASE(missing_guard_of_columns) {
  expect({"missing guard of the last columns",
          "cpu-03",
          {{"std::min(width, x.n - j)", "width"}},
          Mistake::WritesOutside,
          {"past its last column", "n that no tile divides", "guard"}});
}

BOOST_AUTO_TEST_CASE(whole_tiles_of_columns_only) {
  expect({"columns of whole tiles only",
          "cpu-03",
          {{"for (Index j = 0; j < x.n; j += width)", "for (Index j = 0; j + width <= x.n; j += width)"}},
          Mistake::LastColumns,
          {"last column of C (68) is not written", "n need not be a multiple"}});
}

BOOST_AUTO_TEST_CASE(k_not_a_multiple) {
  expect({"steps of whole tiles only",
          "cpu-05",
          {{"p < x.k; p += edge", "p + edge <= x.k; p += edge"}},
          Mistake::LastSteps,
          {"the last step of k is missing", "k that no tile divides"}});
}

BOOST_AUTO_TEST_CASE(transposed_index) {
  expect({"A read as if it were not transposed",
          "cpu-03",
          {{"a(i, p) *", "x.a[i * x.lda + p] *"}},
          Mistake::TransposeA,
          {"A is stored transposed here", "A transposed"}});
}

BOOST_AUTO_TEST_CASE(exchanged_indices) {
  expect({"indices of B exchanged",
          "cpu-02",
          {{"x.op_b == Op::None, x.n, x.k, bt", "x.op_b != Op::None, x.n, x.k, bt"}},
          Mistake::TransposeB,
          {"the indices of B are exchanged"}});
}

BOOST_AUTO_TEST_CASE(shared_sum) {
  expect({"one sum for all threads",
          "cpu-02",
          {{"T sum{0};", "static volatile T sum; sum = 0;"},
           {"sum += row_a[p] * row_b[p];", "sum = sum + row_a[p] * row_b[p];"}},
          Mistake::DiffersBetweenRuns,
          {"different results", "two threads write"}});
}

BOOST_AUTO_TEST_CASE(out_of_bounds_read) {
  expect({"a tile reads beyond the edge",
          "cpu-05",
          {{"i + r < rows && j + q < cols ? x(i + r, j + q) : T{0}", "j + q < cols ? x(i + r, j + q) : T{0}"},
           {"if (i + edge <= rows && ", "if ("}},
          Mistake::ReadsOutside,
          {"is read outside of its elements", "tiled_4x4.cpp:"}});
}

BOOST_AUTO_TEST_CASE(missing_alpha) {
  expect({"alpha is missing",
          "cpu-03",
          {{"store_scaled(x, sum[q], x.c[i * x.ldc + j + q])", "x.c[i * x.ldc + j + q] = sum[q]"}},
          Mistake::Alpha,
          {"alpha (2) is missing"}});
}

BOOST_AUTO_TEST_CASE(missing_beta) {
  expect({"beta is missing",
          "cpu-03",
          {{"store_scaled(x, sum[q], x.c[i * x.ldc + j + q])", "x.c[i * x.ldc + j + q] = x.alpha * sum[q]"}},
          Mistake::Beta,
          {"beta (3) is missing"}});
}

BOOST_AUTO_TEST_CASE(reads_c_although_beta_is_0) {
  expect({"C is read although beta is 0",
          "cpu-03",
          {{"store_scaled(x, sum[q], x.c[i * x.ldc + j + q])",
            "x.c[i * x.ldc + j + q] = x.alpha * sum[q] + x.beta * x.c[i * x.ldc + j + q]"}},
          Mistake::ReadsC,
          {"although beta is 0", "ask whether beta is 0"}});
}

BOOST_AUTO_TEST_CASE(stale_tail) {
  expect({"the last tile of k keeps the tile before",
          "cpu-05",
          {{"Tile4x4<T> tile;",
            "static thread_local Tile4x4<T> kept[2]; static thread_local int turn = 0;\n"
            "  turn ^= 1; Tile4x4<T>& tile = kept[turn];"},
           {"tile.at[r][q] = i + r < rows && j + q < cols ? x(i + r, j + q) : T{0};",
            "if (i + r < rows && j + q < cols) tile.at[r][q] = x(i + r, j + q);"}},
          Mistake::StaleTail,
          {"past the end of k", "fill the rest with zeros"}});
}

BOOST_AUTO_TEST_CASE(doubled_last_tile) {
  expect({"the last tile of k is added twice",
          "cpu-05",
          {{"for (Index r = 0; r < std::min(edge, last - i); ++r)",
            "{ const Index p = (x.k - 1) / edge * edge;\n"
            "          add_product(load(a, i, p, x.m, x.k), load(b, p, j, x.k, x.n), sum); }\n"
            "        for (Index r = 0; r < std::min(edge, last - i); ++r)"}},
          Mistake::DoubledTile,
          {"steps 60 to 63 of k are added twice", "last tile"}});
}

BOOST_AUTO_TEST_CASE(swapped_leading_dimensions) {
  expect({"B is read with A's leading dimension",
          "cpu-04",
          {{"const Strided<T> b = strided_b(x);",
            "const Strided<T> b = x.op_b == Op::None ? Strided<T>{x.b, x.lda, 1} : strided_b(x);"}},
          Mistake::LeadingDimension,
          {"B is read with a wrong leading dimension", "i·ldb"}});
}

BOOST_AUTO_TEST_CASE(every_other_row) {
  expect({"every other row",
          "cpu-02",
          {{"for (Index i = first; i < last; ++i)", "for (Index i = first; i < last; i += 2)"}},
          Mistake::SomeRows,
          {"Every 2nd row of C (1, 3", "step of the loop over rows"}});
}

BOOST_AUTO_TEST_CASE(blocks_stored_over_one_another) {
  expect({"each block of k stores its sums in place of adding them",
          "cpu-06",
          {{"{pc == 0, pc + depth == x.k", "{true, pc + depth == x.k"}},
          Mistake::FirstSteps,
          {"the first 2048 steps of k are missing", "a long k", "store the first, add the others"}});
}

BOOST_AUTO_TEST_CASE(first_block_of_a_again) {
  expect({"the first step of a block of k is not added to the index of A",
          "cpu-06",
          {{"pack_a(a, ic, rows, pc, depth", "pack_a(a, ic, rows, 0, depth"}},
          Mistake::FirstTileAgain,
          {"has the first 1024 steps of A again", "first step of the tile has to be added"}});
}

BOOST_AUTO_TEST_CASE(strip_read_along_the_wrong_index) {
  expect({"the indices within a strip are exchanged",
          "cpu-03",
          {{"columns[p * width + q]", "columns[q * x.k + p]"}},
          Mistake::TransposeB,
          {"a strip of 4 columns of B", "p·4 + q"}});
}

BOOST_AUTO_TEST_CASE(later_strips) {
  expect({"strips lie closer than they are long",
          "cpu-03",
          {{"strips.data() + j * x.k", "strips.data() + j"}},
          Mistake::LaterColumns,
          {"All columns of C from 4 on are wrong", "a packed copy"}});
}

BOOST_AUTO_TEST_CASE(rows_of_c_without_its_leading_dimension) {
  expect({"C is stored as if its rows lay close together",
          "cpu-03",
          {{"x.c[i * x.ldc + j + q]", "x.c[i * x.n + j + q]"}},
          Mistake::WritesOutside,
          {"past its last column", "row i begins at i·ldc"}});
}

BOOST_AUTO_TEST_CASE(what_a_wrong_kernel_prints) {
  expect({"a wrong kernel prints a line",
          "cpu-03",
          {{"CpuExecutor& cpu = cpu_of(executor);",
            "CpuExecutor& cpu = cpu_of(executor); __builtin_printf(\"k is %d\\n\", static_cast<int>(x.k));"},
           {"p < x.k; ++p", "p < x.k - 1; ++p"}},
          Mistake::LastSteps,
          {"the last step of k is missing", "It printed:", "  k is 64"}});
}

BOOST_AUTO_TEST_CASE(line_of_the_compiler) {
  expect({"a semicolon is missing",
          "cpu-03",
          {{"T sum[width] = {};", "T sum[width] = {}"}},
          Mistake::DoesNotCompile,
          {"it does not compile: line "}});
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::lessons::testing
