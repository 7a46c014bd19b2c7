/// Tests of batches that a device computes: from host memory, in pieces, in its own memory, and of matrices that are
/// there already. Backends without the step refuse it.

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <tuple>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <tessera/interop/executor_memory.hpp>
#include <tessera/linear_algebra/batch.hpp>
#include <tessera/linear_algebra/device_batch.hpp>

#include "core/tools/recorder.hpp"
#include "device_batch.hpp"
#include "elsewhere.hpp"
#include "support/expect.hpp"

namespace tessera::test {

BOOST_AUTO_TEST_SUITE(device_batch)

/// Every size in lanes, and some that a block has, or that are too large for a block.
BOOST_AUTO_TEST_CASE_TEMPLATE(bits_of_the_host, T, Numbers) {
  if (!has_panels()) return;
  Draw draw(1);
  std::vector<Index> sizes;
  for (Index n = 1; n <= 40; ++n) sizes.push_back(n);
  for (const Index n : {47, 63, 64, 65, 96, 100, 127, 129, 160, 161, 200})
    if (!conformance::options().quick || n < 66) sizes.push_back(n);
  for (const Index n : sizes) BOOST_TEST_CONTEXT(n << " rows") {
      if (!has_room((is_complex<T> ? 4 : 1) * static_cast<std::size_t>(n * n) * sizeof(T))) continue;
      const Case<T> systems(draw, n, draw.index(1, 6), n > 64 ? 4 : draw.index(1, 40));
      expect_same(computed(systems, tested()), computed(systems, formulas));
    }
}

/// More systems than a launch's groups, in more pieces than one where the device is small.
BOOST_AUTO_TEST_CASE_TEMPLATE(many_systems, T, Numbers) {
  if (!has_panels()) return;
  Draw draw(2);
  for (const auto& [n, count] : {std::pair<Index, Index>{3, 5000}, {7, 1000}, {33, 40}}) BOOST_TEST_CONTEXT(n) {
      const Case<T> systems(draw, n, 1, count);
      expect_same(computed(systems, tested()), computed(systems, formulas));
    }
}

/// One step computes all systems of a batch in host memory.
BOOST_AUTO_TEST_CASE(steps_of_a_batch) {
  if (!keeps_all()) return;
  const auto steps = [](auto number) {
    using T = decltype(number);
    std::vector<T> a(4 * 300, T(1)), b(2 * 300, T(1));
    std::vector<Index> info(300);
    Recorder recorder;
    solve_batch<T>(2, 1, a.data(), 2, 4, b.data(), 1, 2, info.data(), 300, tested());
    BOOST_TEST(std::ranges::count(info, Index{2}) == 300);
    return std::ranges::count_if(recorder.of(tools::Kind::Panel),
                                 [](const auto& step) { return step.name == "small_systems"; });
  };
  BOOST_TEST(steps(1.0) == 2); // its begin and its end
  BOOST_TEST(steps(1.0F) == 2);
  BOOST_TEST(steps(std::complex<float>(1)) == 2);
  BOOST_TEST(steps(std::complex<double>(1)) == 2);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(systems_in_its_memory, T, Numbers) {
  if (!keeps_all()) return;
  Draw draw(3);
  for (const bool by_pointers : {false, true})
    for (const Index n : {1, 2, 5, 12, 32, 50, 90}) BOOST_TEST_CONTEXT(n << " rows, by pointers: " << by_pointers) {
        const Case<T> x(draw, n, draw.index(1, 5), 9);
        const Results<T> expected = computed(x, formulas);
        const OnDevice<T> lu(x.a), b(x.b), a(x.a), solutions(x.b);
        const OnDevice<Index> pivots(x.pivots), info(x.info), solve_info(x.info);
        run_there(SystemsTask::Lu, x, lu, b, pivots, info, by_pointers);
        BOOST_TEST(differing(lu.read(), expected.lu) == 0);
        BOOST_TEST(pivots.read() == expected.pivots, boost::test_tools::per_element());
        BOOST_TEST(info.read() == expected.lu_info, boost::test_tools::per_element());
        run_there(SystemsTask::Solve, x, a, solutions, pivots, solve_info, by_pointers);
        BOOST_TEST(differing(solutions.read(), expected.solutions) == 0);
        BOOST_TEST(differing(a.read(), x.a) == 0);
        BOOST_TEST(solve_info.read() == expected.solve_info, boost::test_tools::per_element());
        std::vector<T> by_factors = x.b;
        lu_solve_batch(Op::None, n, x.columns, expected.lu.data(), x.lda, x.stride_a, expected.pivots.data(),
                       by_factors.data(), x.ldb, x.stride_b, x.count, formulas);
        run_there(SystemsTask::LuSolve, x, lu, b, pivots, info, by_pointers);
        BOOST_TEST(differing(b.read(), by_factors) == 0);
      }
}

/// Matrices that are on the device stay there, and so do the solutions, with Auto too.
BOOST_AUTO_TEST_CASE_TEMPLATE(matrices_that_are_there, T, Numbers) {
  if (!keeps_all()) return;
  const Index n = 20;
  std::vector<Matrix<T>> a, b;
  Draw draw(4);
  const auto there = [&](Index rows, Index cols) {
    std::vector<T> numbers(static_cast<std::size_t>(rows * cols));
    for (T& number : numbers) number = draw.number<T>();
    const OnDevice<T> memory(numbers);
    return from_executor(device(), memory.get(), rows, cols, cols);
  };
  for (int i = 0; i < 5; ++i) {
    a.push_back(there(n, n));
    b.push_back(there(n, 3));
    BOOST_TEST_REQUIRE(is_there(a.back()));
  }
  for (const SolveOptions& options : {tested(), SolveOptions{}}) {
    Recorder recorder;
    const std::vector<Matrix<T>> x = solve_batch(a, b, options);
    const auto steps = recorder.of(tools::Kind::Panel);
    BOOST_TEST(steps.size() == 2); // its begin and its end
    for (std::size_t i = 0; i < a.size(); ++i) {
      BOOST_TEST(is_there(x[i]));
      BOOST_TEST(is_there(a[i]));
      BOOST_TEST(differing(x[i], solve(a[i], b[i], formulas)) == 0);
    }
  }
  const OnDevice<T> zeros(std::vector<T>(static_cast<std::size_t>(n * n)));
  a[3] = from_executor(device(), zeros.get(), n, n, n);
  try {
    static_cast<void>(solve_batch(a, b, tested()));
    BOOST_ERROR("singular, and no exception");
  } catch (const FailedSystem& error) {
    BOOST_TEST(error.system() == 3);
    BOOST_TEST(error.info() == 1);
  }
}

/// Copies of matrices in any steps, by strides and by pointers, also of sizes that no task takes.
BOOST_AUTO_TEST_CASE_TEMPLATE(copies, T, Numbers) {
  if (!keeps_all()) return;
  Draw draw(5);
  for (const auto& [rows, cols, count] :
       {std::tuple<Index, Index, Index>{3, 5, 700}, {1, 1, 9}, {7, 2, 1}, {530, 90, 2}})
    for (const bool by_pointers : {false, true}) BOOST_TEST_CONTEXT(rows << "×" << cols << ", " << by_pointers) {
        std::vector<T> from(static_cast<std::size_t>(rows * cols * count)), to(from.size(), T(7));
        for (T& number : from) number = draw.number<T>();
        // Columns of the memory from the last one on are rows; each second matrix is the first one.
        const Index step = rows, row_step = -1, first = rows - 1;
        const bool conjugates = draw.yes(), clears = draw.yes();
        const OnDevice<T> a(from), b(to);
        std::vector<void*> all_a, all_b;
        const auto place = [&, n = rows * cols](Index i) { return first + (by_pointers ? i % 2 * (i / 2) : i) * n; };
        for (Index i = 0; i < count; ++i) {
          all_a.push_back(a.get() + place(i));
          all_b.push_back(b.get() + i * rows * cols);
        }
        const OnDevice<void*> pointers_a(all_a), pointers_b(all_b);
        SystemsCall call{.task = SystemsTask::Copy,
                         .count = count,
                         .a = a.get() + first,
                         .lda = row_step,
                         .stride_a = rows * cols,
                         .b = b.get(),
                         .ldb = cols,
                         .stride_b = rows * cols,
                         .is_conjugated = conjugates,
                         .clears_upper = clears,
                         .step_a = step};
        if (by_pointers) {
          call.all_a = pointers_a.get();
          call.all_b = pointers_b.get();
        }
        run_systems<T>(device(), device().default_queue(), rows, cols, call);
        std::vector<T> expected = to;
        for (Index i = 0; i < count; ++i)
          for (Index r = 0; r < rows; ++r)
            for (Index c = 0; c < cols; ++c) {
              const T value = from[static_cast<std::size_t>(place(i) + r * row_step + c * step)];
              expected[static_cast<std::size_t>((i * rows + r) * cols + c)] = clears && c > r ? T(0)
                                                                              : conjugates    ? conjugate(value)
                                                                                              : value;
            }
        BOOST_TEST(differing(b.read(), expected) == 0);
      }
}

BOOST_AUTO_TEST_CASE(nothing_to_do) {
  if (!has_panels()) return;
  run_systems(device(), device().default_queue(), DType::F64, 4, 4, {.task = SystemsTask::Solve, .lda = 4});
  std::vector<double> a(3, 1.0);
  std::vector<Index> info(3, -7);
  solve_batch<double>(1, 0, a.data(), 1, 1, nullptr, 1, 0, info.data(), 3, tested());
  BOOST_TEST(info == std::vector<Index>(3), boost::test_tools::per_element());
  solve_batch<double>(1, 1, nullptr, 1, 1, nullptr, 1, 1, nullptr, 0, tested());
}

BOOST_AUTO_TEST_CASE(wrong_arguments) {
  if (!has_panels()) return;
  double number = 1;
  Index info = 0;
  const auto run = [&](const SystemsCall& call, Index rows = 2, Index cols = 2, DType type = DType::F64) {
    run_systems(device(), device().default_queue(), type, rows, cols, call);
  };
  const SystemsCall right{.columns = 1,
                          .count = 3,
                          .a = &number,
                          .lda = 2,
                          .stride_a = 4,
                          .b = &number,
                          .ldb = 1,
                          .stride_b = 2,
                          .info = &info};
  const auto refuse = [&](auto change, std::initializer_list<std::string_view> words) {
    SystemsCall wrong = right;
    change(wrong);
    expect_error<InvalidArgument>([&] { run(wrong); }, words);
  };
  refuse([](SystemsCall& x) { x.lda = 1; }, {"run_systems", "lda = 1", "2 elements"});
  refuse([](SystemsCall& x) { x.count = -1; }, {"count = -1"});
  refuse([](SystemsCall& x) { x.a = nullptr; }, {"a is null", "all_a"});
  refuse([](SystemsCall& x) { x.info = nullptr; }, {"info is null"});
  refuse([](SystemsCall& x) { x.stride_b = 1; }, {"stride_b = 1", "overlap"});
  refuse([](SystemsCall& x) { x.task = SystemsTask::Inverse; }, {"columns = 1", "2"});
  refuse([](SystemsCall& x) { x.task = SystemsTask::LuSolve; }, {"pivots is null"});
  refuse([](SystemsCall& x) { x.task = SystemsTask::Copy, x.a = nullptr; }, {"a is null"});
  refuse([](SystemsCall& x) { x.task = SystemsTask::Copy; }, {"ldb = 1", "2 elements"});
  refuse([&](SystemsCall& x) { x.task = SystemsTask::Lu, x.pivots = &info, x.pivot_stride = 1; }, {"pivot_stride = 1"});
  alignas(16) static std::complex<double> numbers[5];
  SystemsCall between = right; // two places of 16 bytes
  between.a = reinterpret_cast<double*>(numbers) + 1;
  expect_error<InvalidArgument>(
      [&] { run_systems<std::complex<double>>(device(), device().default_queue(), 2, 2, between); },
      {"a does not begin", "16 bytes"});
  expect_error<InvalidArgument>([&] { run(right, 2, 3); }, {"2×3", "square"});
  expect_error<InvalidArgument>([&] { run(right, 2, 2, DType::F16); }, {"f32 or f64", "f16"});
}

BOOST_AUTO_TEST_CASE(what_has_no_kernels_for_them) {
  Executor& reference = executor(Backend::Reference);
  double number = 1;
  Index info = 0;
  const SystemsCall call{.columns = 1, .count = 1, .a = &number, .lda = 1, .b = &number, .ldb = 1, .info = &info};
  expect_error<KernelRejected>([&] { run_systems(reference, reference.default_queue(), DType::F64, 1, 1, call); },
                               {"reference", "no steps"});
  if (!has_panels()) return;
  const Index large = 5000;
  SystemsCall too_large{.task = SystemsTask::Lu,
                        .count = 1,
                        .a = &number,
                        .lda = large,
                        .pivots = &info,
                        .pivot_stride = large,
                        .info = &info};
  expect_error<KernelRejected>(
      [&] { run_systems(device(), device().default_queue(), DType::F64, large, large, too_large); }, {"large"});
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::test
