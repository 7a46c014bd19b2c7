/// How tiled plans products on devices that need not be there.

#define BOOST_TEST_MODULE opencl_plan
#include <boost/test/unit_test.hpp>

#include "opencl/gemm/tiled/plan.hpp"

namespace {

using namespace tessera;
using namespace tessera::opencl;

Device processor(int units, int f32_vector) {
  Device device;
  device.compute_units = units;
  device.f32_vector = f32_vector;
  device.f64_vector = f32_vector / 2;
  return device;
}

GemmCall product(Index m, Index n, Index k, Op op_a = Op::None, Op op_b = Op::None, DType type = DType::F32) {
  return GemmCall{{.type = type, .op_a = op_a, .op_b = op_b, .m = m, .n = n, .k = k}};
}

const Device avx512 = processor(2, 16), avx2 = processor(2, 8);

} // namespace

BOOST_AUTO_TEST_CASE(large_products_are_packed_in_the_largest_tile) {
  for (const Op op_a : {Op::None, Op::Transpose})
    for (const Op op_b : {Op::None, Op::Transpose}) {
      const TilePlan plan = plan_tiles(avx512, product(1024, 1024, 1024, op_a, op_b), 1, true);
      BOOST_TEST(plan.tile.rows == 14);
      BOOST_TEST(plan.columns() == 32);
      BOOST_TEST((plan.left == LeftForm::Packed && plan.right == RightForm::Packed));
      BOOST_TEST((plan.way == SegmentWay::Whole));
    }
  const TilePlan on_16_registers = plan_tiles(avx2, product(1024, 1024, 1024), 1, true);
  BOOST_TEST(on_16_registers.tile.rows * on_16_registers.tile.vectors <= 13);
  BOOST_TEST(on_16_registers.width == 8);
}

BOOST_AUTO_TEST_CASE(vectors_have_4_to_16_elements) {
  BOOST_TEST(plan_tiles(processor(1, 1), product(64, 64, 64), 1, true).width == 4);
  BOOST_TEST(plan_tiles(processor(1, 64), product(64, 64, 64), 1, true).width == 16);
}

BOOST_AUTO_TEST_CASE(segments_are_added_in_turn_or_shared_out) {
  BOOST_TEST((plan_tiles(avx512, product(1024, 1024, 4096), 1, true).way == SegmentWay::InTurn));
  const TilePlan few = plan_tiles(avx512, product(16, 16, 100000), 1, true);
  BOOST_TEST((few.way == SegmentWay::Split));
  BOOST_TEST(few.segments == 98);
  BOOST_TEST((plan_tiles(avx512, product(16, 16, 1024), 1, true).way == SegmentWay::Whole));
}

BOOST_AUTO_TEST_CASE(a_row_times_a_matrix_reads_the_matrix_where_it_is) {
  const TilePlan row = plan_tiles(avx512, product(1, 4096, 4096), 1, true);
  BOOST_TEST(!row.turned);
  BOOST_TEST((row.left == LeftForm::Strided && row.right == RightForm::Rows));
  const TilePlan column = plan_tiles(avx512, product(4096, 1, 4096), 1, true);
  BOOST_TEST(column.turned);
  BOOST_TEST((column.right == RightForm::Staged));
  const TilePlan of_transposed = plan_tiles(avx512, product(4096, 1, 4096, Op::Transpose), 1, true);
  BOOST_TEST((of_transposed.turned && of_transposed.right == RightForm::Rows));
}

BOOST_AUTO_TEST_CASE(nothing_is_copied_in_a_batch_or_without_memory) {
  for (const DType type : {DType::F32, DType::F64, DType::F16})
    for (const Index size : {Index{8}, Index{100}, Index{1000}}) {
      const GemmCall call = product(size, size, 3000, Op::None, Op::Transpose, type);
      for (const TilePlan& plan : {plan_tiles(avx512, call, 10, true), plan_tiles(avx512, call, 1, false)}) {
        BOOST_TEST((plan.left == LeftForm::Strided && plan.right != RightForm::Packed));
        BOOST_TEST((plan.way == SegmentWay::Whole));
      }
    }
}

/// A work-item reads a whole panel's width of each row, so that there must be as many columns.
BOOST_AUTO_TEST_CASE(rows_are_read_only_where_they_are_wide_enough) {
  for (Index m = 1; m < 80; ++m)
    for (Index n = 1; n < 140; n += 3)
      for (const Op op_a : {Op::None, Op::Transpose})
        for (const Op op_b : {Op::None, Op::Transpose}) {
          const TilePlan plan = plan_tiles(avx512, product(m, n, 50, op_a, op_b), 1, true);
          if (plan.right != RightForm::Rows) continue;
          BOOST_TEST_REQUIRE((plan.turned ? m : n) >= plan.columns());
          BOOST_TEST_REQUIRE((plan.turned ? op_a == Op::Transpose : op_b == Op::None));
        }
}
