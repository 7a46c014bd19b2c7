/// Tests products that must be refused, and products that look wrong and are right. The message names the argument and
/// both values, and C stays as it was.

#include <limits>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <tessera/tessera.hpp>

#include "support/expect.hpp"

using namespace tessera;
using tessera::test::contains;
using tessera::test::expect_error;

namespace {

/// A valid call and its operands: C := A·B with A 4×6 and B 6×5, all compact.
struct Call {
  std::vector<float> a = std::vector<float>(24, 1.0f), b = std::vector<float>(30, 1.0f),
                     c = std::vector<float>(20, 7.0f);
  GemmCall call{{.type = DType::F32,
                 .m = 4,
                 .n = 5,
                 .k = 6,
                 .a = a.data(),
                 .lda = 6,
                 .b = b.data(),
                 .ldb = 5,
                 .c = c.data(),
                 .ldc = 5}};
};

template <class Change>
void refused(Change change, std::initializer_list<std::string_view> parts) {
  Call x;
  change(x.call);
  const Status status = check_gemm(x.call);
  BOOST_TEST((status.code == StatusCode::InvalidArgument), status.why);
  for (const std::string_view part : parts)
    BOOST_TEST(contains(status.why, part), "'" << status.why << "' lacks '" << part << "'");
  expect_error<InvalidArgument>([&] { detail::gemm_raw(x.call, {}); }, parts);
  for (const float element : x.c) BOOST_TEST(element == 7.0f);
}

template <class Change>
void accepted(Change change) {
  Call x;
  change(x.call);
  const Status status = check_gemm(x.call);
  BOOST_TEST(status.ok(), status.why);
}

} // namespace

BOOST_AUTO_TEST_SUITE(gemm_arguments)

BOOST_AUTO_TEST_CASE(sizes) {
  accepted([](GemmCall&) {});
  refused([](GemmCall& x) { x.m = -1; }, {"negative", "m = -1", "n = 5", "k = 6"});
  refused([](GemmCall& x) { x.n = -7; }, {"n = -7"});
  refused([](GemmCall& x) { x.k = std::numeric_limits<Index>::min(); }, {"k = -9223372036854775808"});
}

BOOST_AUTO_TEST_CASE(leading_dimensions) {
  refused([](GemmCall& x) { x.lda = 5; }, {"lda = 5", "6 columns"});
  refused([](GemmCall& x) { x.ldb = 4; }, {"ldb = 4", "5 columns"});
  refused([](GemmCall& x) { x.ldc = 0; }, {"ldc = 0", "5 columns"});
  refused([](GemmCall& x) { x.ldc = -5; }, {"ldc = -5"});
  refused(
      [](GemmCall& x) {
        x.op_a = Op::Transpose;
        x.lda = 3;
      },
      {"lda = 3", "4 columns"});
  refused(
      [](GemmCall& x) {
        x.k = 0;
        x.lda = 0;
      },
      {"lda = 0", "at least 1"});
  accepted([](GemmCall& x) {
    x.op_a = Op::Transpose;
    x.lda = 4;
  });
  accepted([](GemmCall& x) {
    x.k = 0;
    x.lda = 1;
  });
}

BOOST_AUTO_TEST_CASE(null) {
  refused([](GemmCall& x) { x.a = nullptr; }, {"a is null", "4×6"});
  refused([](GemmCall& x) { x.b = nullptr; }, {"b is null", "6×5"});
  refused([](GemmCall& x) { x.c = nullptr; }, {"c is null", "4×5"});
  accepted([](GemmCall& x) {
    x.k = 0;
    x.a = x.b = nullptr;
  });
  accepted([](GemmCall& x) {
    x.m = 0;
    x.a = x.c = nullptr;
  });
}

BOOST_AUTO_TEST_CASE(sizes_past_the_address_space) {
  constexpr Index huge = std::numeric_limits<Index>::max();
  refused(
      [](GemmCall& x) {
        x.k = huge;
        x.lda = huge;
      },
      {"a is too large", "overflow"});
  refused(
      [](GemmCall& x) {
        x.m = Index{1} << 40;
        x.k = Index{1} << 40;
        x.lda = Index{1} << 40;
      },
      {"a is too large"});
  refused(
      [](GemmCall& x) {
        x.n = Index{1} << 62;
        x.ldb = x.ldc = Index{1} << 62;
      },
      {"b is too large"});
  refused([](GemmCall& x) { x.ldc = huge / 4; }, {"c is too large", "4 rows", "ldc"});
  refused(
      [](GemmCall& x) {
        x.m = huge;
        x.n = 2;
        x.k = 0;
        x.lda = 1;
        x.ldb = x.ldc = 2;
      },
      {"too large"});
}

BOOST_AUTO_TEST_CASE(other_arguments) {
  refused([](GemmCall& x) { x.type = static_cast<DType>(17); }, {"element type 17"});
  refused([](GemmCall& x) { x.threads = -3; }, {"threads = -3", "negative"});
}

BOOST_AUTO_TEST_CASE(a_result_that_overlaps_an_operand) {
  refused(
      [](GemmCall& x) {
        x.a = x.c;
        x.lda = 6;
        x.m = x.n = x.k = 3;
        x.ldb = 5;
      },
      {"c overlaps a", "3×3"});
  refused(
      [](GemmCall& x) {
        x.b = static_cast<float*>(x.c) + 5;
        x.m = x.n = x.k = 2;
      },
      {"c overlaps b", "2×2"});
  // With different leading dimensions the address ranges decide.
  refused(
      [](GemmCall& x) {
        x.a = static_cast<float*>(x.c) + 1;
        x.m = x.n = x.k = 2;
        x.lda = 3;
      },
      {"c overlaps a"});
}

/// Blocks of one matrix interleave in memory without sharing an element; the check must tell them apart exactly.
BOOST_AUTO_TEST_CASE(blocks_side_by_side_do_not_overlap) {
  constexpr Index ld = 7;
  std::vector<float> memory(ld * 9, 1.0f);
  const auto overlaps = [&](Index row_a, Index col_a, Index row_c, Index col_c, Index rows, Index cols) {
    std::vector<float> b(static_cast<std::size_t>(cols * cols), 1.0f);
    const GemmCall call{{.type = DType::F32,
                         .m = rows,
                         .n = cols,
                         .k = cols,
                         .a = memory.data() + row_a * ld + col_a,
                         .lda = ld,
                         .b = b.data(),
                         .ldb = cols,
                         .c = memory.data() + row_c * ld + col_c,
                         .ldc = ld}};
    return !check_gemm(call).ok();
  };
  // Every pair of positions of two blocks is compared with the definition.
  constexpr Index rows = 3;
  constexpr Index cols = 2;
  int different = 0;
  for (Index ra = 0; ra + rows <= 9; ++ra)
    for (Index ca = 0; ca + cols <= ld; ++ca)
      for (Index rc = 0; rc + rows <= 9; ++rc)
        for (Index cc = 0; cc + cols <= ld; ++cc) {
          const bool truth = std::abs(ra - rc) < rows && std::abs(ca - cc) < cols;
          different += overlaps(ra, ca, rc, cc, rows, cols) == truth ? 0 : 1;
        }
  BOOST_TEST(different == 0);
}

BOOST_AUTO_TEST_CASE(matrices_and_views) {
  Matrix<float> a(4, 4, 1.0f);
  Matrix<float> c(2, 2, 7.0f);
  expect_error<InvalidArgument>([&] { static_cast<void>(gemm(a, c)); }, {"a is 4×4", "b is 2×2", "4 ≠ 2"});
  expect_error<InvalidArgument>([&] { gemm(1.0f, a, a, 0.0f, c); }, {"c is 2×2", "4×4"});
  expect_error<InvalidArgument>([&] { gemm(1.0f, a, a, 0.0f, a); }, {"c overlaps a"});
  expect_error<InvalidArgument>([&] { gemm(1.0f, c, a.block(0, 0, 2, 2), 0.0f, a.block(1, 1, 2, 2)); },
                                {"c overlaps b"});
  BOOST_TEST((a == Matrix<float>(4, 4, 1.0f)));
  BOOST_TEST((c == Matrix<float>(2, 2, 7.0f)));
  gemm(1.0f, a.block(0, 0, 2, 2), a.block(0, 2, 2, 2), 0.0f, a.block(2, 1, 2, 2));
  BOOST_TEST((a.block(2, 1, 2, 2) == Matrix<float>(2, 2, 2.0f)));
}

BOOST_AUTO_TEST_CASE(a_kernel_that_is_named_runs_or_the_call_fails) {
  const Matrix<float> a(2, 2, 1.0f);
  Matrix<float> c(2, 2, 7.0f);
  const auto with = [&](const char* kernel, Math math) {
    return [&, kernel, math] {
      gemm(1.0f, a, a, 0.0f, c, {.backend = Backend::Reference, .math = math, .kernel = kernel});
    };
  };
  expect_error<InvalidArgument>(with("glod", Math::Strict),
                                {"unknown kernel 'glod'", "reference", "did you mean 'gold'?"});
  expect_error<KernelRejected>(with("gold", Math::Tf32), {"gold", "tf32"});
  expect_error<KernelRejected>(with("", Math::Compensated), {"reference", "compensated"});
  BOOST_TEST((c == Matrix<float>(2, 2, 7.0f)));
  with("gold", Math::Strict)();
  BOOST_TEST((c == Matrix<float>(2, 2, 2.0f)));
}

BOOST_AUTO_TEST_SUITE_END()
