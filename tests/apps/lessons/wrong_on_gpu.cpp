#include <boost/test/unit_test.hpp>

#include "wrong_solutions.hpp"

namespace tessera::lessons::testing {

BOOST_AUTO_TEST_SUITE(wrong_on_gpu)

BOOST_AUTO_TEST_CASE(missing_barrier) {
  expect({"no barrier after the tiles are filled",
          "gpu-06",
          {{"b_padding<T>);\n    __syncthreads();", "b_padding<T>);"}},
          Mistake::Race,
          {"__syncthreads()", "no barrier is between them", "line "}});
}

BOOST_AUTO_TEST_CASE(missing_second_barrier) {
  expect({"no barrier after the tiles are used",
          "gpu-06",
          {{"__syncthreads(); // all threads have used the tiles", ""}},
          Mistake::Race,
          {"no barrier is between them", "one after they are used"}});
}

BOOST_AUTO_TEST_CASE(barrier_in_a_branch) {
  expect({"threads outside of C leave before the barrier",
          "gpu-06",
          {{"  CanonicalSum<T> sum;\n  for (Index k0",
            "  CanonicalSum<T> sum;\n  if (origin.row + threadIdx.y >= x.m) return;\n"
            "  for (Index k0"}},
          Mistake::BarrierInBranch,
          {"waits at this barrier", "has ended without it", "m that no tile divides"}});
}

BOOST_AUTO_TEST_CASE(missing_guard) {
  expect({"no guard when C is stored",
          "gpu-02",
          {{"if (i < x.m && j < x.n) compute", "if (j < x.n) compute"}},
          Mistake::ReadsOutside,
          {"of A, which has", "m that no tile divides", "row < m"}});
}

BOOST_AUTO_TEST_CASE(out_of_bounds_read) {
  expect({"a tile is filled from beyond the edge",
          "gpu-06",
          {{"across < across_left && down + v * step < down_left", "across < across_left"}},
          Mistake::ReadsOutside,
          {" reads element ", "just past its end", "guard"}});
}

BOOST_AUTO_TEST_CASE(uninitialised_tile) {
  expect({"the tile is not padded beyond the edge",
          "gpu-06",
          {{"to[v * to_step] = inside ? from[v * step * stride] : padding;",
            "if (inside) to[v * to_step] = from[v * step * stride];"}},
          Mistake::Uninitialised,
          {"which no thread of the block has written", "padding value"}});
}

BOOST_AUTO_TEST_CASE(k_not_a_multiple) {
  expect({"whole tiles of k only",
          "gpu-08",
          {{"k0 < x.k; k0 += tile_k", "k0 + tile_k <= x.k; k0 += tile_k"}},
          Mistake::LastSteps,
          {"the last 5 steps of k are missing", "k that no tile divides"}});
}

BOOST_AUTO_TEST_CASE(missing_alpha) {
  expect({"alpha is missing",
          "gpu-02",
          {{"x.alpha * sum.value()", "sum.value()"}},
          Mistake::Alpha,
          {"alpha (2) is missing"}});
}

BOOST_AUTO_TEST_CASE(reads_c_although_beta_is_0) {
  expect({"C is read although beta is 0",
          "gpu-02",
          {{"x.beta == T{0} ? scaled : fused(x.beta, *c, scaled)", "fused(x.beta, *c, scaled)"}},
          Mistake::ReadsC,
          {"although beta is 0"}});
}

BOOST_AUTO_TEST_CASE(swapped_leading_dimensions) {
  expect({"B is read with the steps of A",
          "gpu-02",
          {{"b += x.b_row", "b += x.a_row"}},
          Mistake::LeadingDimension,
          {"B is read with a wrong leading dimension"}});
}

BOOST_AUTO_TEST_CASE(every_other_row) {
  expect({"every other row of a thread's results",
          "gpu-08",
          {{"col;\n#pragma unroll\n  for (int r = 0; r < rows; ++r)", "col;\n  for (int r = 0; r < rows; r += 2)"}},
          Mistake::SomeRows,
          {"Every 2nd row of C (1, 3", "is not written"}});
}

BOOST_AUTO_TEST_CASE(sums_that_nothing_is_added_to) {
  expect({"every other sum stays 0",
          "gpu-08",
          {{"for (int r = 0; r < rows; ++r) sums.at", "for (int r = 0; r < rows; r += 2) sums.at"}},
          Mistake::NothingAdded,
          {"the sums are 0", "every 2nd row of C (1, 3"}});
}

BOOST_AUTO_TEST_CASE(block_of_another_shape) {
  expect({"the block keeps its shape where the kernel has exchanged its indices",
          "gpu-02",
          {{"threads(tile_n, tile_m)", "threads(tile_m, tile_n)"}},
          Mistake::Race,
          {"writes C(", "compute the same element of C", "in launch() too"}});
}

BOOST_AUTO_TEST_CASE(block_of_too_many_threads) {
  expect({"more threads than a block can have",
          "gpu-08",
          {{", threads, 0, stream", ", 4 * threads, 0, stream"}},
          Mistake::LaunchRefused,
          {"2048 threads", "Look at launch()"}});
}

BOOST_AUTO_TEST_CASE(exchanged_within_a_tile) {
  expect({"the tile of A is read along its columns",
          "gpu-06",
          {{"a_tile[threadIdx.y][p]", "a_tile[p][threadIdx.y]"}},
          Mistake::TransposeA,
          {"within each tile of 32×32 of A", "which index is the row"}});
}

BOOST_AUTO_TEST_CASE(endless_loop) {
  expect({"the step of the loop over k is missing",
          "gpu-06",
          {{"k0 += tile", "k0 += 0"}},
          Mistake::Ended,
          {"Does a loop never end?", "does its counter grow"}});
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::lessons::testing
