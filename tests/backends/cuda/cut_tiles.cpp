/// Products so large that stream_k cuts tiles between two blocks, and that slender chooses each of its tiles. The bits
/// must be z_order's, which computes a tile in one block, has its epilogue in a pass of its own, and is compared with
/// the reference by the conformance tests on small products.

#include <limits>

#include <boost/mpl/list.hpp>
#include <boost/test/unit_test.hpp>

#include <tessera/tessera.hpp>

#include "bits.hpp"
#include "is_hopper.hpp"
#include "lines.hpp"
#include "stream_k_products.hpp"

using namespace tessera;
using cuda_test::is_hopper;
using test::check_bits;

using test::runs;

namespace {

using Types = boost::mpl::list<float, double>;

} // namespace

BOOST_AUTO_TEST_SUITE(cut_tiles)

BOOST_AUTO_TEST_CASE_TEMPLATE(tiles_that_are_cut_keep_their_bits, T, Types) {
  if (!runs("stream_k", {})) return;
  for (const Op op_a : {Op::None, Op::Transpose})
    for (const Op op_b : {Op::None, Op::Transpose}) check_bits<T>("stream_k", 2200, 2304, 1100, op_a, op_b);
  check_bits<T>("stream_k", 2201, 2303, 2500, Op::None, Op::None); // unaligned, edges in both directions
  // K is cut at the segments, and tiles are cut as well.
  check_bits<T>("stream_k", 1001, 900, 5000, Op::None, Op::None);
  check_bits<T>("stream_k", 1536, 1536, 1536, Op::None, Op::None); // segments of different length
  check_bits<T>("stream_k", 1000, 1000, 1000, Op::None, Op::None);
  check_bits<T>("stream_k", 60, 4000, 4100, Op::None, Op::Transpose);
  check_bits<T>("stream_k", 400, 370, 55000, Op::None, Op::None); // many segments of few tiles
  check_bits<T>("stream_k", 2900, 2950, 100, Op::None, Op::None);
  check_bits<T>("stream_k", 2201, 2303, 2500, Op::None, Op::None, std::numeric_limits<T>::min()); // subnormal sums
  for (const Op op_a : {Op::None, Op::Transpose}) // in f32 operands are copied: both, A, B
    for (const Op op_b : {Op::None, Op::Transpose}) {
      check_bits<T>("stream_k", 3073, 3079, 1030, op_a, op_b);
      check_bits<T>("stream_k", 300, 3072, 1100, op_a, op_b);
      check_bits<T>("stream_k", 3072, 300, 300, op_a, op_b);
    }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(tiles_of_all_sizes_keep_their_bits, T, Types) {
  if (!runs("stream_k", {{.type = dtype_of<T>}})) return;
  for (const auto& [m, n, k] : test::products_of_middle_sizes)
    for (const Op op_a : {Op::None, Op::Transpose})
      for (const Op op_b : {Op::None, Op::Transpose}) check_bits<T>("stream_k", m, n, k, op_a, op_b);
}

/// f64 has tiles of 128×64.
BOOST_AUTO_TEST_CASE(tiles_half_as_wide_keep_their_bits) {
  if (!runs("stream_k", {{.type = DType::F64}})) return;
  for (const auto& [m, n, k] : test::products_128x64)
    for (const Op op_a : {Op::None, Op::Transpose})
      for (const Op op_b : {Op::None, Op::Transpose}) check_bits<double>("stream_k", m, n, k, op_a, op_b);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(slender_products_keep_their_bits, T, Types) {
  constexpr bool f32 =
      sizeof(T) == 4; // f64 with more than four rows or columns belongs to few_vectors_keep_their_bits or to stream_k
  if (!runs("slender", {{.type = dtype_of<T>, .m = 1, .n = 1, .k = 1}})) return;
  // A block works on several segments: on four, and on eight, of which the last one is short.
  for (const Op op : {Op::None, Op::Transpose}) {
    check_bits<T>("slender", 1, 8200, 3100, Op::None, op);
    check_bits<T>("slender", 1, 8200, 8100, op, op);
    check_bits<T>("slender", 3, 8201, 3500, op, op);
    check_bits<T>("slender", 8200, 4, 3500, op, Op::None);
    check_bits<T>("slender", 3, 8201, 9000, op, op); // more segments than few_vectors_* take
    check_bits<T>("slender", 8200, 4, 9000, op, Op::None);
  }
  if (!f32) return;
  for (const Op op_a : {Op::None, Op::Transpose})
    for (const Op op_b : {Op::None, Op::Transpose}) {
      check_bits<T>("slender", 61, 64, 66000, op_a, op_b);  // tiles of 32×64
      check_bits<T>("slender", 100, 230, 1500, op_a, op_b); // tiles of 16×32
      check_bits<T>("slender", 13, 4100, 9000, op_a, op_b); // tiles of 16×128: more segments than few_vectors_* take
      check_bits<T>("slender", 4099, 27, 8200, op_a, op_b); // tiles of 32×128
    }
}

/// Products on matrix units, where a warp has a segment of k, in blocks and clusters of two to eight segments. The last
/// segment is short and ends within a step and within an instruction, and some vectors are beyond the end.
BOOST_AUTO_TEST_CASE(few_vectors_keep_their_bits) {
  if (!runs("slender", {{.type = DType::F64, .m = 16, .n = 4096, .k = 4096}})) return;
  for (const Op op_a : {Op::None, Op::Transpose})
    for (const Op op_b : {Op::None, Op::Transpose}) {
      check_bits<double>("slender", 16, 4096, 4096, op_a, op_b);
      check_bits<double>("slender", 2051, 13, 3001, op_a, op_b);
      check_bits<double>("slender", 7, 4099, 1025, op_a, op_b);
      check_bits<double>("slender", 2048, 16, 2100, op_a, op_b);
      check_bits<double>("slender", 11, 2049, 5003, op_a, op_b);
      check_bits<double>("slender", 4100, 8, 8192, op_a, op_b);
      check_bits<double>("slender", 12, 100, 4500, op_a, op_b);
      check_bits<double>("slender", 9, 10, 1030, op_a, op_b); // fewer vectors than a warp has
    }
}

/// Products in f32 with FMAs, of 5 to 16 rows or columns, where slender's own tiles would cost more (with 132
/// multiprocessors). By the lengths and the leading dimensions, both operands are copied in chunks of 16 bytes, or one
/// of them, or none.
BOOST_AUTO_TEST_CASE(few_vectors_by_fmas_keep_their_bits) {
  if (!is_hopper()) return;
  for (const Op op_a : {Op::None, Op::Transpose})
    for (const Op op_b : {Op::None, Op::Transpose}) {
      check_bits<float>("slender", 16, 4096, 4096, op_a, op_b);
      check_bits<float>("slender", 4096, 16, 4096, op_a, op_b);
      check_bits<float>("slender", 16, 4096, 8192, op_a, op_b);
      check_bits<float>("slender", 2051, 13, 3001, op_a, op_b);
      check_bits<float>("slender", 12, 6000, 1025, op_a, op_b);
      check_bits<float>("slender", 6000, 10, 2048, op_a, op_b);
      check_bits<float>("slender", 11, 2051, 4100, op_a, op_b);
      check_bits<float>("slender", 5, 4099, 8192, op_a, op_b);
      check_bits<float>("slender", 4097, 5, 3001, op_a, op_b);
      check_bits<float>("slender", 4100, 8, 5003, op_a, op_b);
      check_bits<float>("slender", 7, 4097, 7000, op_a, op_b);
      check_bits<float>("slender", 9, 4097, 1028, op_a, op_b);
      check_bits<float>("slender", 16, 32, 1025, op_a, op_b); // the vectors of one team
      check_bits<float>("slender", 5, 33, 2049, op_a, op_b);
      check_bits<float>("slender", 33, 13, 3073, op_a, op_b);
      check_bits<float>("slender", 2051, 14, 8192, op_a, op_b, 1.0F, 0.0F);
      check_bits<float>("slender", 18, 1917, 4464, op_a, op_b); // two and three groups of the small operand
      check_bits<float>("slender", 1992, 24, 2230, op_a, op_b);
      check_bits<float>("slender", 42, 610, 3808, op_a, op_b);
    }
  check_bits<float>("slender", 16, 4097, 2500, Op::None, Op::None, std::numeric_limits<float>::min()); // subnormal sums
}

BOOST_AUTO_TEST_CASE(few_vectors_by_fmas_take_every_leading_dimension) {
  if (!is_hopper()) return;
  test::check_lines<float>("slender", 16, 4096, 4096, {});
  test::check_lines<float>("slender", 16, 4096, 4096, {.more_a = 1, .more_b = 3});
  test::check_lines<float>("slender", 4096, 12, 2100, {.more_a = 4});
  test::check_lines<float>("slender", 8, 4100, 3001, {.more_a = 3, .more_b = 4});
  test::check_lines<float>("slender", 8, 4100, 3001, {});
  test::check_lines<float>("slender", 2052, 13, 4099, {.more_a = 1, .more_b = 1});
  test::check_lines<float>("slender", 5, 4099, 8191, {});
  test::check_lines<float>("slender", 16, 4096, 2048, {.first_a = 1});
  test::check_lines<float>("slender", 16, 4096, 2048, {.first_b = 3});
}

BOOST_AUTO_TEST_SUITE_END()
