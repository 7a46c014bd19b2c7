/// Products whose k the matrix units' kernels share out in every number of parts, and products of one row. Operands are
/// whole numbers so small that every sum is exact, and the results must be z_order's in f32.

#include <boost/test/unit_test.hpp>

#include <tessera/tessera.hpp>

#include "is_hopper.hpp"
#include "whole_numbers.hpp"

using namespace tessera;
using cuda_test::is_hopper;
using test::whole_numbers;

namespace {

struct Transposed {
  bool a, b;
};

/// Compares C in f32 of operands of T with C of the same numbers in f32.
template <class T>
void check(const char* kernel, Math math, Index m, Index n, Index k, Transposed op) {
  const Matrix<T> a = op.a ? whole_numbers<T>(k, m, Seed{1}) : whole_numbers<T>(m, k, Seed{1});
  const Matrix<T> b = op.b ? whole_numbers<T>(n, k, Seed{2}) : whole_numbers<T>(k, n, Seed{2});
  const Matrix<float> wide_a = matrix_cast<float>(a), wide_b = matrix_cast<float>(b);
  Matrix<float> result = whole_numbers<float>(m, n, Seed{3});
  Matrix<float> expected = whole_numbers<float>(m, n, Seed{3});
  gemm(1, op.a ? a.transposed() : a.view(), op.b ? b.transposed() : b.view(), -1, result,
       {.backend = Backend::Cuda, .math = math, .kernel = kernel});
  gemm(1, op.a ? wide_a.transposed() : wide_a.view(), op.b ? wide_b.transposed() : wide_b.view(), -1, expected,
       {.backend = Backend::Cuda, .kernel = "z_order"});
  BOOST_TEST((result == expected), kernel << ", " << m << "x" << n << "x" << k << (op.a ? ", A transposed" : "")
                                          << (op.b ? ", B transposed" : ""));
}

void check_all(Index m, Index n, Index k, Transposed op) {
  check<bf16>("wgmma_bf16", Math::Bf16, m, n, k, op);
  check<f16>("wgmma_fp16", Math::Fp16, m, n, k, op);
  check<float>("wgmma_tf32", Math::Tf32, m, n, k, op);
}

constexpr Transposed all_ops[]{{false, false}, {true, false}, {false, true}, {true, true}};

} // namespace

BOOST_AUTO_TEST_SUITE(split_k)

/// On 132 multiprocessors, tiles of 64×64 have one, two, three, four and eight parts of k, or a block has several
/// tiles.
BOOST_AUTO_TEST_CASE(of_few_rows_and_columns) {
  if (!is_hopper()) return;
  for (const Index length : {512, 1000, 2048, 2600, 4100, 8500})
    for (const Transposed op : all_ops) {
      check_all(length, 24, 1024, op);
      check_all(21, length, 1030, op);
    }
  check_all(64, 64, 16384, {false, false}); // slices of k as well
}

/// Each result is added by sixteen, eight or two threads, as there are few, some or many results.
BOOST_AUTO_TEST_CASE(of_slices) {
  if (!is_hopper()) return;
  for (const Transposed op : {Transposed{false, false}, Transposed{true, true}}) {
    check_all(100, 120, 16384, op);
    check_all(260, 250, 16384, op);
    check_all(520, 515, 16384, op);
  }
}

/// Up to 128 rows, or in tf32 columns: the blocks of a cluster have tiles of 128 columns beside one another.
BOOST_AUTO_TEST_CASE(of_tiles_beside_one_another) {
  if (!is_hopper()) return;
  for (const Transposed op : all_ops) {
    check_all(100, 9000, 200, op);
    check_all(9000, 128, 200, op);
  }
}

/// Strips have 32 vectors of the large operand or, for 16-bit operands that lie across, 64. The last strip is ragged,
/// and k ends within a step. The small operand is read in chunks, in pairs or one by one, by its direction and by
/// whether m, n and k are even.
BOOST_AUTO_TEST_CASE(of_few_vectors) {
  if (!is_hopper()) return;
  // Two parts of k, in blocks that share multiprocessors.
  for (const Transposed op : all_ops) check_all(16, 6000, 1064, op);
  for (const Index length : {512, 1000, 1024, 2048, 2504, 4104, 8488})
    for (const Transposed op : all_ops) {
      check_all(length, 16, 1064, op);
      check_all(11, length, 1030, op);
      check_all(length, 6, 131, op);
      check_all(16, length, 2048, op);
      check_all(5, length, 1064, op);
      check_all(length, 7, 1064, op);
    }
}

/// Clusters of one, two and three blocks, and more groups of columns than multiprocessors.
BOOST_AUTO_TEST_CASE(of_one_row) {
  if (!is_hopper()) return;
  for (const Index n : {1248, 2048, 2504, 4096, 4232, 8448, 8456})
    for (const Index k : {1, 63, 511, 513, 1031})
      for (const bool transposed : {false, true}) check_all(1, n, k, {transposed, false});
}

BOOST_AUTO_TEST_SUITE_END()
