/// The textbook's rungs through the lens: products at the edges, no findings, and counters that ncu has given, too.

#include <string>
#include <vector>

#include "looked.hpp"

namespace tessera::lens::testing {

BOOST_AUTO_TEST_SUITE(rungs_suite, *boost::unit_test::precondition(HasCompiler()))

BOOST_AUTO_TEST_CASE(all_are_right_and_without_findings) {
  const std::vector<std::string> rungs{"naive_strided",
                                       "naive_coalesced",
                                       "naive_flat",
                                       "transposed_b",
                                       "row_shared",
                                       "shared_tile_16",
                                       "shared_tile_32",
                                       "tile_1d",
                                       "shared_tile_bank_padded",
                                       "tile_2d",
                                       "float4",
                                       "double_buffer",
                                       "conflict_free",
                                       "tile_2d_register",
                                       "z_order",
                                       "warp_tile",
                                       "async_copy",
                                       "segmented",
                                       "shared_tile_zero_padded",
                                       "pitched",
                                       "kahan_flat",
                                       "kahan_tile",
                                       "kahan_row_shared"};
  int number = 0;
  for (const std::string& rung : rungs) {
    const bool even = number++ % 2 == 0;
    const Report report = look_at(rung, {70, 45, 37}, even ? DType::F32 : DType::F64, even ? Op::Transpose : Op::None,
                                  even ? Op::None : Op::Transpose);
    BOOST_TEST_CONTEXT(rung) {
      BOOST_TEST(report.product == "right");
      BOOST_TEST(report.ended == "");
      for (const FindingReport& finding : report.findings)
        // These two do not write shared memory past the edges of C, and read it for results that they do not store.
        if (finding.kind != "uninitialised" || (rung != "async_copy" && rung != "segmented"))
          BOOST_TEST(finding.message == "");
    }
  }
}

// docs/lab/cuda_gemm.md has the device's own counts: of bank conflicts, and of wavefronts at n = 2048.
BOOST_AUTO_TEST_CASE(wavefronts_as_the_device_counts_them) {
  const GemmShape shape{128, 128, 64};
  const auto wavefronts = [&](const std::string& rung, const char* access, const char* array) {
    return sum_of(launch(look_at(rung, shape), rung), access, array).wavefronts_per_request();
  };
  const LaunchReport tile_2d = launch(look_at("tile_2d", shape), "tile_2d");
  const std::uint64_t steps = 8 * 64; // of all warps
  BOOST_TEST(sum_of(tile_2d, "shared load", "a_tile").wavefronts +
                 sum_of(tile_2d, "shared load", "b_tile").wavefronts ==
             24 * steps); // 101 million of 4.2 million steps
  BOOST_TEST(wavefronts("float4", "shared store", "a_tile") == 2);
  BOOST_TEST(wavefronts("float4", "shared load", "b_tile") == 8);
  BOOST_TEST(wavefronts("conflict_free", "shared store", "a_tile") == 1);
  BOOST_TEST(wavefronts("conflict_free", "shared load", "b_tile") == 8);
  BOOST_TEST(wavefronts("z_order", "shared load", "a_tile") == 2);
  BOOST_TEST(wavefronts("z_order", "shared load", "b_tile") == 2);
}

/// The statement of the kernel that leads to an access, also where the compiler has put the kernel into its launch.
BOOST_AUTO_TEST_CASE(lines_of_the_kernel) {
  for (const std::string rung : {"naive_coalesced", "tile_1d", "float4"}) {
    const Report report = look_at(rung, {32, 32, 32});
    for (const LineAccess& line : launch(report, rung).lines) {
      BOOST_TEST(line.place.line > 0, rung);
      BOOST_TEST(line.place.kernel_line < launch(report, rung).line,
                 rung << ": " << line.access << " of " << line.array);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::lens::testing
