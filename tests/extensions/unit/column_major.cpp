/// Column-major products are computed as their transposes; what is wrong with them is said in the caller's words: the
/// operand that the caller passed as a is a, and sizes are the caller's.

#include <functional>
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <tessera/beyond_memory/many_executors.hpp>
#include <tessera/detail/column_major.hpp>
#include <tessera/gemm_batch.hpp>
#include <tessera/interop/span.hpp>
#include <tessera/queue.hpp>
#include <tessera/tessera.hpp>

#include "support/expect.hpp"

using namespace tessera;
using tessera::test::contains;
using tessera::test::expect_error;

namespace {

constexpr Index side = 20;

/// Blocks of a 20×20 matrix, each wrapped for itself as adaptors do, and a matrix of ones that has no part in it.
struct Blocks {
  std::vector<double> memory = std::vector<double>(side * side, 7), others = std::vector<double>(side * side, 1);

  MatrixView<double> columns(std::vector<double>& x, Index i, Index j, Index rows, Index cols) {
    return view_of(std::span(x).subspan(static_cast<std::size_t>(i + j * side)), cols, rows, side).transposed();
  }
  MatrixView<double> rows(std::vector<double>& x, Index i, Index j, Index rows, Index cols) {
    return view_of(std::span(x).subspan(static_cast<std::size_t>(i * side + j)), rows, cols, side);
  }
};

using Multiply = std::function<void(const MatrixView<double>&, const MatrixView<double>&, const MatrixView<double>&)>;

/// A (6×4) and then B (4×8) overlaps C (6×8), in both orders.
void refuses_in_the_words_of_the_caller(const Multiply& multiply) {
  for (const bool by_columns : {true, false}) {
    Blocks x;
    const auto block = [&](std::vector<double>& from, Index i, Index j, Index rows, Index cols) {
      return by_columns ? x.columns(from, i, j, rows, cols) : x.rows(from, i, j, rows, cols);
    };
    const auto c = block(x.memory, 3, 3, 6, 8);
    expect_error<InvalidArgument>([&] { multiply(block(x.memory, 0, 0, 6, 4), block(x.others, 0, 0, 4, 8), c); },
                                  {"c overlaps a", "c is 6×8", "a is 6×4"});
    expect_error<InvalidArgument>([&] { multiply(block(x.others, 0, 0, 6, 4), block(x.memory, 0, 0, 4, 8), c); },
                                  {"c overlaps b", "c is 6×8", "b is 4×8"});
    BOOST_TEST(x.memory == std::vector<double>(side * side, 7));
    // Blocks side by side share no element, though their addresses interleave.
    multiply(block(x.memory, 0, 0, 2, 4), block(x.others, 0, 0, 4, 8), block(x.memory, 3, 0, 2, 8));
    BOOST_TEST(block(x.memory, 3, 0, 2, 8)(0, 0) == 28);
  }
}

/// A row-major call for the column-major C := A·B with a 6×4 A and a 4×8 B, whose leading dimensions are 20.
GemmCall column_major_call(const double* a, const double* b, double* c) {
  return {{.type = DType::F64, .m = 8, .n = 6, .k = 4, .a = b, .lda = side, .b = a, .ldb = side, .c = c, .ldc = side}};
}

void expect_words(const Status& status, std::initializer_list<std::string_view> parts) {
  BOOST_TEST((status.code == StatusCode::InvalidArgument), status.why);
  for (const std::string_view part : parts)
    BOOST_TEST(contains(status.why, part), "'" << status.why << "' lacks '" << part << "'");
}

} // namespace

BOOST_AUTO_TEST_SUITE(column_major)

BOOST_AUTO_TEST_CASE(products_of_views) {
  refuses_in_the_words_of_the_caller([](const auto& a, const auto& b, const auto& c) { gemm(1.0, a, b, 0.0, c); });
}

BOOST_AUTO_TEST_CASE(products_in_a_queue) {
  refuses_in_the_words_of_the_caller([](const auto& a, const auto& b, const auto& c) {
    ExecutionQueue queue(Backend::Reference);
    gemm(queue, 1.0, a, b, 0.0, c);
    queue.finish();
  });
}

BOOST_AUTO_TEST_CASE(products_on_a_list_of_executors) {
  refuses_in_the_words_of_the_caller([](const auto& a, const auto& b, const auto& c) {
    Executor* const executors[]{&executor(Backend::Reference)};
    gemm(std::span<Executor* const>(executors), 1.0, a, b, 0.0, c);
  });
}

BOOST_AUTO_TEST_CASE(a_view_of_a_matrix_s_own_memory) {
  Matrix<double> a(6, 4), b(4, 8);
  a.fill(1);
  b.fill(1);
  const auto c = view_of(std::span(b.data(), static_cast<std::size_t>(4 * b.ld())), 4, 4, b.ld());
  expect_error<InvalidArgument>([&] { gemm(1.0, b.block(0, 0, 4, 4), b.block(0, 0, 4, 4), 0.0, c); },
                                {"c overlaps a", "c is 4×4"});
}

BOOST_AUTO_TEST_CASE(an_epilogue) {
  Blocks x;
  const auto c = x.columns(x.memory, 0, 0, 6, 8);
  const MatrixEpilogue<double> epilogue{.residual = x.columns(x.memory, 2, 2, 6, 8)};
  expect_error<InvalidArgument>(
      [&] { gemm(1.0, x.columns(x.others, 0, 0, 6, 4), x.columns(x.others, 0, 0, 4, 8), 0.0, c, epilogue, {}); },
      {"c overlaps the residual"});
}

BOOST_AUTO_TEST_CASE(calls) {
  Blocks x;
  const double* const free = x.others.data();
  double* const c = x.memory.data() + 3 + 3 * side;
  expect_words(detail::check_column_major(column_major_call(x.memory.data(), free, c)),
               {"c overlaps a", "c is 6×8", "a is 6×4"});
  expect_words(detail::check_column_major(column_major_call(free, x.memory.data(), c)),
               {"c overlaps b", "c is 6×8", "b is 4×8"});
  expect_words(detail::check_column_major(column_major_call(nullptr, free, c)), {"a is null", "6×4"});
  GemmCall narrow = column_major_call(free, free, c);
  narrow.ldb = 5;
  expect_words(detail::check_column_major(narrow), {"lda = 5", "6 rows that a has"});
  narrow = column_major_call(free, free, c);
  narrow.m = -2;
  expect_words(detail::check_column_major(narrow), {"m = 6", "n = -2"});
  BOOST_TEST(detail::check_column_major(column_major_call(free, free, c)).ok());
  const ComplexGemmCall complex{{.type = DType::F32,
                                 .op_b = Op::ConjugateTranspose,
                                 .m = 8,
                                 .n = 3,
                                 .k = 2,
                                 .a = free,
                                 .lda = side / 2,
                                 .b = c,
                                 .ldb = side / 2,
                                 .c = c,
                                 .ldc = side / 2}};
  expect_words(detail::check_column_major(complex), {"c overlaps a", "c is 3×8", "a is 2×3"});
}

BOOST_AUTO_TEST_CASE(batches_of_calls) {
  Blocks x;
  const double* const free = x.others.data();
  double* const c = x.memory.data() + 3 + 3 * side;
  GemmBatch strided{
      .call = column_major_call(x.memory.data(), free, c), .count = 2, .stride_b = 1, .stride_c = 9 * side};
  expect_words(detail::check_column_major({&strided, 1}), {"c overlaps a", "c is 6×8", "a is 6×4"});
  strided = {.call = column_major_call(x.memory.data() + 3 + 11 * side, free, c),
             .count = 2,
             .stride_b = 1,
             .stride_c = 8 * side};
  expect_words(detail::check_column_major({&strided, 1}),
               {"a c overlaps an a", "stride_a = 1", "c is 6×8", "a is 6×4"});
  const void *a[] = {free, x.memory.data()}, *b[] = {free, free};
  void* results[] = {x.memory.data() + 10 * side, c};
  GemmBatch pointers{.call = column_major_call(nullptr, nullptr, nullptr), .count = 2};
  pointers.a = b; // the call's A is the caller's b
  pointers.b = a;
  pointers.c = results;
  expect_words(detail::check_column_major({&pointers, 1}), {"c[1] overlaps a[1]", "c is 6×8", "a is 6×4"});
  a[1] = nullptr;
  expect_words(detail::check_column_major({&pointers, 1}), {"a[1] is null", "6×4"});
}

BOOST_AUTO_TEST_SUITE_END()
