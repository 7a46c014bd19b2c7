/// Counters of kernels/counted.cu, worked out by hand.

#include "looked.hpp"

namespace tessera::lens::testing {
namespace {

/// All launches of the file, which is compiled once.
const Report& counted() {
  static const Report report = look_at(kernel_file("counted.cu"), {64, 64, 64});
  return report;
}

void check(const std::string& name, const std::string& access, const std::string& array, std::uint64_t requests,
           std::uint64_t lanes, std::uint64_t units) {
  const LineAccess sum = sum_of(launch(counted(), name), access, array);
  BOOST_TEST_CONTEXT(name << ": " << access << " of " << array) {
    BOOST_TEST(sum.requests == requests);
    BOOST_TEST(sum.lanes == lanes);
    BOOST_TEST((sum.is_shared() ? sum.wavefronts : sum.sectors) == units);
    BOOST_TEST(sum.bytes_moved == units * (sum.is_shared() ? 128 : 32));
  }
}

} // namespace

BOOST_AUTO_TEST_SUITE(counters_suite, *boost::unit_test::precondition(HasCompiler()))

BOOST_AUTO_TEST_CASE(sectors) {
  check("coalesced", "global load", "A", 1, 32, 4);
  check("coalesced", "global store", "C", 1, 32, 4);
  check("far_apart", "global load", "A", 1, 32, 32);
  check("misaligned", "global load", "A", 1, 32, 5);
  check("broadcast", "global load", "A", 1, 32, 1);
  check("doubles", "global load", "A", 1, 32, 8);
  check("some_lanes", "global load", "A", 1, 9, 2);
  check("strided", "global load", "A", 1, 32, 13); // bytes 20 to 395 in steps of 12
}

BOOST_AUTO_TEST_CASE(vectors) {
  check("vectors", "global load", "A", 1, 32, 16);
  check("vectors", "global store", "C", 1, 32, 16);
  check("made_vectors", "global load", "A", 1, 32, 16);
  check("made_vectors", "global store", "C", 1, 32, 16);
  BOOST_TEST(sum_of(launch(counted(), "vectors"), "global load", "A").bytes_asked == 512u);
}

BOOST_AUTO_TEST_CASE(banks) {
  check("banks_0", "shared load", "tile", 1, 32, 1);
  check("banks_1", "shared load", "tile", 1, 32, 1);
  check("banks_2", "shared load", "tile", 1, 32, 2);
  check("banks_32", "shared load", "tile", 1, 32, 32);
  check("banks_33", "shared load", "tile", 1, 32, 1);
  check("banks_33", "shared store", "tile", 33, 33 * 32, 33);
  BOOST_TEST(launch(counted(), "banks_1").shared_bytes == 33u * 32 * 4);
  BOOST_TEST(launch(counted(), "banks_1").barriers == 1u);
}

/// What cp.async writes is no store of the program: ncu counts it as LDGSTS.
BOOST_AUTO_TEST_CASE(copies_past_the_registers) {
  check("copied", "global load", "A", 1, 32, 16);
  check("copied", "shared copy", "tile", 1, 32, 4);
  check("copied", "shared store", "tile", 1, 1, 1);
  check("copied", "shared load", "tile", 2, 64, 2);
}

BOOST_AUTO_TEST_CASE(wide_accesses_of_shared_memory) {
  const std::uint64_t wavefronts[] = {4, 8, 2, 2}; // of one block: lane by lane, two apart, one for all, one a half
  unsigned found = 0;
  for (const LaunchReport& one : counted().launches) {
    if (one.name != "wide") continue;
    const std::uint64_t blocks = one.grid[0];
    const LineAccess sum = sum_of(one, "shared load", "dynamic shared memory");
    BOOST_TEST(sum.requests == blocks);
    BOOST_TEST(sum.wavefronts == blocks * wavefronts[blocks - 1]);
    BOOST_TEST(one.barriers == blocks);
    BOOST_TEST(one.shared_bytes == 1024u);
    ++found;
  }
  BOOST_TEST(found == 4u);
}

BOOST_AUTO_TEST_CASE(divergence) {
  // Lanes leave the inner loop at different passes, and go on together in the outer one.
  check("ragged", "global load", "A", 8, 2 * (32 + 24 + 16 + 8), 2 * 4 * 4);
  check("ragged", "global load", "C", 2, 64, 8);
  check("ragged", "global store", "C", 1, 32, 4);
  BOOST_TEST(launch(counted(), "ragged").divergent_branches == 6u);
  check("two_ways", "global load", "A", 2, 32, 8);
  check("two_ways", "global store", "C", 1, 32, 4);
  BOOST_TEST(launch(counted(), "two_ways").divergent_branches == 1u);
  BOOST_TEST(launch(counted(), "some_lanes").divergent_branches == 1u);
  BOOST_TEST(launch(counted(), "coalesced").divergent_branches == 0u);
}

BOOST_AUTO_TEST_CASE(registers_are_no_memory) {
  check("registers", "global load", "A", 4, 128, 16);
  check("registers", "global store", "C", 1, 32, 4);
  BOOST_TEST(launch(counted(), "registers").lines.size() == 2u);
  check("outer_product", "shared load", "rows", 2, 64, 2);
  check("outer_product", "shared load", "columns", 4, 128, 4);
}

BOOST_AUTO_TEST_CASE(exchanges_and_atomic_operations) {
  check("reduction", "global load", "A", 2, 64, 8);
  check("reduction", "shared store", "parts", 2, 2, 2);
  check("reduction", "shared load", "parts", 2, 2, 2);
  check("reduction", "global atomic", "C", 2, 64, 2);
  BOOST_TEST(launch(counted(), "reduction").barriers == 2u);
  for (const FindingReport& finding : counted().findings) BOOST_TEST(finding.message == "");
}

BOOST_AUTO_TEST_CASE(a_product_at_the_edges) {
  // 37 = 3 tiles of 16 with 5 rows, 20 = 2 with 4, 45 = 3 with 13.
  const Report report = look_at(kernel_file("tiled.cu"), {37, 45, 20});
  BOOST_TEST(report.product == "right");
  BOOST_TEST(report.ended == "");
  BOOST_TEST(report.findings.empty());
  BOOST_TEST(report.well());
  const LaunchReport& tiled = launch(report, "tiled");
  BOOST_TEST(tiled.grid[0] == 3u);
  BOOST_TEST(tiled.barriers == 9u * 2 * 2);
  BOOST_TEST(sum_of(tiled, "global load", "A").lanes == 37u * 20 * 3);
  BOOST_TEST(sum_of(tiled, "global load", "B").lanes == 20u * 45 * 3);
  BOOST_TEST(sum_of(tiled, "global store", "C").lanes == 37u * 45);
  BOOST_TEST(sum_of(tiled, "shared load", "As").requests == 9u * 8 * 32);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::lens::testing
