/// What the diagnosis says of results with a known mistake, without a kernel.

#include "diagnosis/diagnosis.hpp"

#include <limits>
#include <random>

#include <boost/test/unit_test.hpp>

#include "catalogue.hpp"
#include "diagnosis/places.hpp"
#include "starter.hpp"

#include <tessera/status.hpp>

namespace tessera::lessons::testing {
namespace {

Stored random_matrix(Index rows, Index cols, Index pad, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> number(1, 4);
  Stored matrix{
      std::vector<double>(static_cast<std::size_t>(rows * (cols + pad)), std::numeric_limits<double>::quiet_NaN()),
      cols + pad};
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j)
      matrix.data[static_cast<std::size_t>(i * matrix.ld + j)] = random() % 2 == 0 ? number(random) : -number(random);
  return matrix;
}

Observation right_product(const Case& tried) {
  Observation seen{.tried = tried, .a = {}, .b = {}, .c_before = {}, .c = {}, .written = {}};
  const bool ta = tried.op_a == Op::Transpose, tb = tried.op_b == Op::Transpose;
  seen.a = random_matrix(ta ? tried.shape.k : tried.shape.m, ta ? tried.shape.m : tried.shape.k, tried.pad, 1);
  seen.b = random_matrix(tb ? tried.shape.n : tried.shape.k, tb ? tried.shape.k : tried.shape.n, tried.pad, 2);
  seen.c_before = random_matrix(tried.shape.m, tried.shape.n, tried.pad, 3);
  for (Index i = 0; i < tried.shape.m; ++i)
    for (Index j = 0; j < tried.shape.n; ++j) {
      seen.c.push_back(seen.wanted(i, j));
      seen.written.push_back(Written::Number);
    }
  return seen;
}

/// Replaces each element by what `value(seen, i, j)` says.
template <class Value>
Observation with(const Case& tried, Value value) {
  Observation seen = right_product(tried);
  for (Index i = 0; i < tried.shape.m; ++i)
    for (Index j = 0; j < tried.shape.n; ++j)
      seen.c[static_cast<std::size_t>(i * tried.shape.n + j)] = value(seen, i, j);
  return seen;
}

template <class Holds>
Observation unwritten_where(const Case& tried, Holds holds) {
  Observation seen = right_product(tried);
  for (Index i = 0; i < tried.shape.m; ++i)
    for (Index j = 0; j < tried.shape.n; ++j)
      if (holds(i, j)) seen.written[static_cast<std::size_t>(i * tried.shape.n + j)] = Written::No;
  return seen;
}

void expect_mistake(const Observation& seen, Mistake mistake, const char* words) {
  const Finding finding = diagnose(seen);
  BOOST_TEST(static_cast<int>(finding.mistake) == static_cast<int>(mistake), finding.what);
  BOOST_TEST(finding.what.find(words) != std::string::npos, finding.what << " lacks " << words);
}

constexpr Case small{.subject = "", .shape = {17, 19, 23}, .alpha = 2, .beta = 3};
constexpr Case without_c{.subject = "", .shape = {17, 19, 23}, .pad = 2};

} // namespace

BOOST_AUTO_TEST_SUITE(diagnosis)

BOOST_AUTO_TEST_CASE(right_results_have_no_finding) {
  BOOST_TEST(diagnose(right_product(small)).none());
  BOOST_TEST(diagnose(right_product(without_c)).none());
}

BOOST_AUTO_TEST_CASE(elements_that_were_not_written) {
  expect_mistake(unwritten_where(without_c, [](Index, Index) { return true; }), Mistake::NothingWritten, "not written");
  expect_mistake(unwritten_where(without_c, [](Index i, Index) { return i >= 16; }), Mistake::LastRows,
                 "The last row of C (16)");
  expect_mistake(unwritten_where(without_c, [](Index i, Index) { return i >= 12; }), Mistake::LastRows,
                 "The last 5 rows of C (12 to 16)");
  expect_mistake(unwritten_where(without_c, [](Index, Index j) { return j >= 16; }), Mistake::LastColumns,
                 "The last 3 columns of C (16 to 18)");
  expect_mistake(unwritten_where(without_c, [](Index i, Index j) { return i >= 16 || j >= 16; }),
                 Mistake::LastRowsAndColumns, "last row 16 and the last columns 16 to 18");
  expect_mistake(unwritten_where(without_c, [](Index i, Index) { return i % 4 == 3; }), Mistake::SomeRows,
                 "Every 4th row of C (3, 7, …)");
  expect_mistake(unwritten_where(without_c, [](Index, Index j) { return j % 8 >= 6; }), Mistake::SomeColumns,
                 "Of every 8 columns of C those numbered 6 to 7");
}

BOOST_AUTO_TEST_CASE(mistakes_of_scaling) {
  const auto sum = [](const Observation& seen, Index i, Index j) { return seen.sum(i, j, 0, seen.tried.shape.k); };
  const auto old = [](const Observation& seen, Index i, Index j) { return seen.c_before.at(i, j); };
  expect_mistake(with(small, [&](const auto& x, Index i, Index j) { return sum(x, i, j) + 3 * old(x, i, j); }),
                 Mistake::Alpha, "alpha (2) is missing");
  expect_mistake(with(small, [&](const auto& x, Index i, Index j) { return 2 * sum(x, i, j); }), Mistake::Beta,
                 "beta (3) is missing");
  expect_mistake(with(small, [&](const auto& x, Index i, Index j) { return 2 * sum(x, i, j) + old(x, i, j); }),
                 Mistake::Beta, "counts as 1");
  expect_mistake(with(small, [&](const auto& x, Index i, Index j) { return 2 * (sum(x, i, j) + 3 * old(x, i, j)); }),
                 Mistake::Alpha, "alpha multiplies the old C too");
  expect_mistake(with(small, [&](const auto& x, Index i, Index j) { return 4 * sum(x, i, j) + 3 * old(x, i, j); }),
                 Mistake::Alpha, "twice");
  expect_mistake(with(small, [&](const auto& x, Index i, Index j) { return 3 * sum(x, i, j) + 2 * old(x, i, j); }),
                 Mistake::Beta, "exchanged");
}

BOOST_AUTO_TEST_CASE(mistakes_along_k) {
  const auto part = [](Index first, Index last) {
    return [=](const Observation& x, Index i, Index j) { return x.scaled(i, j, x.sum(i, j, first, last)); };
  };
  const auto more = [](Index first, Index last) {
    return [=](const Observation& x, Index i, Index j) {
      return x.scaled(i, j, x.sum(i, j, 0, x.tried.shape.k) + x.sum(i, j, first, last));
    };
  };
  expect_mistake(with(small, part(0, 16)), Mistake::LastSteps, "the last 7 steps of k are missing");
  expect_mistake(with(small, part(0, 22)), Mistake::LastSteps, "the last step of k is missing");
  expect_mistake(with(small, part(8, 23)), Mistake::FirstSteps, "the first 8 steps of k are missing");
  expect_mistake(with(small, part(0, 0)), Mistake::NothingAdded, "the sums are 0");
  expect_mistake(with(small, more(16, 23)), Mistake::DoubledTile, "steps 16 to 22 of k are added twice");
  expect_mistake(with(small, more(15, 16)), Mistake::StaleTail, "1 step too many is added (tiles of 8)");
  expect_mistake(with(small, [](const Observation& x, Index i,
                                Index j) { return x.scaled(i, j, x.sum(i, j, 0, 23) - x.sum(i, j, 8, 16)); }),
                 Mistake::LastSteps, "steps 8 to 15 of k are missing");
  // In the last rows alone.
  expect_mistake(with(small, [](const Observation& x, Index i,
                                Index j) { return i < 16 ? x.wanted(i, j) : x.scaled(i, j, x.sum(i, j, 0, 16)); }),
                 Mistake::LastSteps, "in the last row of C (16)");
}

BOOST_AUTO_TEST_CASE(mistakes_of_reading) {
  Case turned = small;
  turned.shape.m = turned.shape.k = 19;
  turned.op_a = Op::Transpose;
  const auto exchanged = [](const Observation& x, Index i, Index j) {
    double sum = 0;
    for (Index p = 0; p < x.tried.shape.k; ++p) sum += x.a_at(p, i) * x.b_at(p, j);
    return x.scaled(i, j, sum);
  };
  expect_mistake(with(turned, exchanged), Mistake::TransposeA, "as if it were not");
  turned.op_a = Op::None;
  expect_mistake(with(turned, exchanged), Mistake::TransposeA, "the indices of A are exchanged");
  Case square = small;
  square.shape.m = square.shape.n = 18;
  expect_mistake(with(square, [](const Observation& x, Index i, Index j) { return x.wanted(j, i); }),
                 Mistake::TransposedC, "C is transposed");
  Case padded = small;
  padded.pad = 5;
  padded.beta = 0;
  Observation tight = right_product(padded);
  for (Index i = 0; i < padded.shape.m; ++i)
    for (Index j = 0; j < padded.shape.n; ++j) {
      double sum = 0;
      for (Index p = 0; p < padded.shape.k; ++p) sum += tight.a.at(i * padded.shape.k + p) * tight.b_at(p, j);
      tight.c[static_cast<std::size_t>(i * padded.shape.n + j)] = 2 * sum;
      if (std::isnan(sum)) tight.written[static_cast<std::size_t>(i * padded.shape.n + j)] = Written::NotANumber;
    }
  // Row 0 is right, and the others meet the padding: no number tells it apart.
  expect_mistake(tight, Mistake::NotANumber, "NaN");
}

BOOST_AUTO_TEST_CASE(mistakes_of_tiles) {
  constexpr Case tiles{.subject = "", .shape = {32, 24, 20}, .alpha = 2, .beta = 3};
  const auto of = [](auto a, auto b) {
    return [=](const Observation& x, Index i, Index j) {
      double sum = 0;
      for (Index p = 0; p < x.tried.shape.k; ++p) sum += a(x, i, p) * b(x, p, j);
      return x.scaled(i, j, sum);
    };
  };
  const auto right_a = [](const Observation& x, Index i, Index p) { return x.a_at(i, p); };
  const auto right_b = [](const Observation& x, Index p, Index j) { return x.b_at(p, j); };
  const auto first_of_a = [](const Observation& x, Index i, Index p) { return x.a_at(i, p % 8); };
  expect_mistake(with(tiles, of(first_of_a, right_b)), Mistake::FirstTileAgain, "the first 8 steps of A again");
  const auto step_0 = [](const Observation& x, Index, Index j) { return x.b_at(0, j); };
  expect_mistake(with(tiles, of(right_a, step_0)), Mistake::FirstTileAgain, "every step of k reads B at step 0");
  const auto exchanged_a = [](const Observation& x, Index i, Index p) {
    return x.a_at(i / 4 * 4 + p % 4, p / 4 * 4 + i % 4);
  };
  expect_mistake(with(tiles, of(exchanged_a, right_b)), Mistake::TransposeA, "within each tile of 4×4 of A");
  const auto strip_of_b = [](const Observation& x, Index p, Index j) {
    const Index place = j % 4 * x.tried.shape.k + p;
    return x.b_at(place / 4, j / 4 * 4 + place % 4);
  };
  expect_mistake(with(tiles, of(right_a, strip_of_b)), Mistake::TransposeB, "a strip of 4 columns of B");
  const auto replaced = [](const Observation& x, Index i, Index j) {
    return x.scaled(i, j, x.sum(i, j, 0, 20) + x.sum(i, j, 0, 8) - x.sum(i, j, 8, 16));
  };
  expect_mistake(with(tiles, replaced), Mistake::DoubledTile, "steps 0 to 7 of k are added in place of steps 8 to 15");
  constexpr Case long_k{.subject = "", .shape = {3, 5, 600}};
  expect_mistake(with(long_k, [](const Observation& x, Index i, Index j) { return x.sum(i, j, 512, 600); }),
                 Mistake::FirstSteps, "the first 512 steps of k are missing");
}

BOOST_AUTO_TEST_CASE(right_in_the_first_tile_alone) {
  const auto from_4 = [](const Observation& x, Index i, Index j) {
    return x.wanted(i, j) + (j < 4 ? 0.0 : 1.0 + static_cast<double>(i * j));
  };
  expect_mistake(with(small, from_4), Mistake::LaterColumns, "All columns of C from 4 on are wrong");
  const auto rows_from_4 = [](const Observation& x, Index i, Index j) {
    return x.wanted(i, j) + (i < 4 ? 0.0 : 1.0 + static_cast<double>(i * j));
  };
  expect_mistake(with(small, rows_from_4), Mistake::LaterRows, "All rows of C from 4 on are wrong");
}

BOOST_AUTO_TEST_CASE(results_that_differ) {
  const Observation one = right_product(small);
  Observation other = one;
  other.c[5] += 1;
  BOOST_TEST(static_cast<int>(diagnose_difference(one, other).mistake) ==
             static_cast<int>(Mistake::DiffersBetweenRuns));
  BOOST_TEST(diagnose_difference(one, one).none());
}

BOOST_AUTO_TEST_CASE(wrong_without_a_pattern) {
  Observation seen = right_product(small);
  seen.c[static_cast<std::size_t>(2 * 19 + 5)] += 1;
  seen.c[static_cast<std::size_t>(9 * 19 + 7)] -= 4;
  expect_mistake(seen, Mistake::Elsewhere, "2 of 323 elements of C");
}

BOOST_AUTO_TEST_CASE(names_of_lessons) {
  for (const char* word : {"cpu-02", "cpu-2", "cpu02", "CPU-02", "transposed"})
    BOOST_TEST(std::string(lesson_named(word).name) == "cpu-02");
  BOOST_TEST(std::string(lesson_named("k1").name) == "cpu-k1");
  BOOST_TEST(std::string(lesson_named("12").name) == "gpu-12");
  const auto says = [](const char* words) {
    return [=](const InvalidArgument& error) { return std::string(error.what()).find(words) != std::string::npos; };
  };
  BOOST_CHECK_EXCEPTION(lesson_named("06"), InvalidArgument, says("cpu-06 (cache_blocked) or gpu-06 (shared_tile)"));
  BOOST_CHECK_EXCEPTION(lesson_named("transpose"), InvalidArgument, says("did you mean 'transposed'"));
  BOOST_CHECK_EXCEPTION(lesson_named(""), InvalidArgument, says("there is no lesson ''"));
}

BOOST_AUTO_TEST_CASE(starting_files) {
  const Lesson& lesson = lesson_named("gpu-02");
  const std::string text = starting_text(lesson,
                                         "/// naive_strided: words.\n\n#include \"cuda/gemm/common/traffic.hpp\"\n"
                                         "/// An idea that is naive_strided on purpose.\n"
                                         "__global__ void naive_strided() {}\nint naive_strided_2;\n"
                                         "naive_strided<<<1, 2>>>(x);\n\ntemplate <class T>\n"
                                         "constexpr GemmKernel rung{.name = \"naive_strided\",\n  .run = f};\n\n"
                                         "const GemmKernel naive_strided_f32 = rung<float>;\nint end;\n");
  BOOST_TEST(text.starts_with("// Lesson gpu-02: naive_coalesced."));
  BOOST_TEST(
      text.ends_with("/// An idea that is naive_strided on purpose.\n"
                     "__global__ void naive_coalesced() {}\nint naive_strided_2;\n"
                     "naive_coalesced<<<1, 2>>>(x);\n\nint end;\n"));
  BOOST_TEST(text.find("traffic") == std::string::npos);
  // A kernel called float4 would hide CUDA's type, which the task of that lesson tells to use.
  const std::string vectors = starting_text(lesson_named("gpu-11"), "__global__ void tile_2d_register() {}\n");
  BOOST_TEST(vectors.ends_with("__global__ void tile_2d_register() {}\n"));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::lessons::testing
