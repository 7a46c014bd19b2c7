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
#include "device_steps.hpp"
#include "drawn.hpp"
#include "support/expect.hpp"

namespace tessera::test {
namespace {

/// Numbers in the memory of the tested device.
template <class T>
class OnDevice {
 public:
  explicit OnDevice(const std::vector<T>& values) : count_(values.size()) {
    void* memory = nullptr;
    throw_if_failed(device().allocate(bytes(), memory));
    memory_ = static_cast<T*>(memory);
    throw_if_failed(device().copy_in(device().default_queue(), memory_, bytes(), values.data(), bytes(), bytes(), 1));
  }
  ~OnDevice() { device().free(memory_); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

  T* get() const { return memory_; }
  std::vector<T> read() const {
    std::vector<T> values(count_);
    throw_if_failed(device().copy_out(device().default_queue(), values.data(), bytes(), memory_, bytes(), bytes(), 1));
    return values;
  }

 private:
  std::size_t bytes() const { return std::max<std::size_t>(1, count_) * sizeof(T); }

  std::size_t count_;
  T* memory_ = nullptr;
};

template <class T>
T conjugated(T x) {
  if constexpr (is_complex<T>)
    return std::conj(x);
  else
    return x;
}

/// Systems of one size with all that the tasks take, some of them singular or with numbers that are hard. Diagonals of
/// Hermitian matrices have imaginary parts, which nothing looks at.
template <class T>
struct Case {
  using Limits = std::numeric_limits<Part<T>>;

  Case(Draw& draw, Index rows, Index right, Index number)
      : n(rows),
        columns(right),
        count(number),
        lda(n + draw.index(0, 2)),
        ldb(columns + draw.index(0, 2)),
        stride_a(n * lda + draw.index(0, 3)),
        stride_b(n * ldb + draw.index(0, 3)),
        a(static_cast<std::size_t>(count * stride_a)),
        b(static_cast<std::size_t>(count * stride_b)),
        info(static_cast<std::size_t>(count), -7),
        pivots(static_cast<std::size_t>(count * n), -7) {
    for (T& value : a) value = draw.number<T>();
    for (T& value : b) value = draw.number<T>();
    positive = a;
    for (Index k = 0; k < count; ++k)
      for (Index i = 0; i < n; ++i) {
        for (Index j = 0; j < i; ++j) at(positive, k, j, i) = conjugated(at(positive, k, i, j));
        at(positive, k, i, i) += static_cast<Part<T>>(2 * n);
      }
    if (count > 2) {
      for (Index i = 0; i < n; ++i) at(a, 1, i, n / 2) = 0;
      at(a, 2, n / 2, n / 2) = Limits::quiet_NaN();
      at(positive, 1, n / 2, n / 2) = -1;
    }
    if (count > 3) {
      at(a, 3, 0, n - 1) = Limits::denorm_min();
      at(a, 3, n - 1, 0) = Limits::infinity();
    }
    if (count > 4) { // divisors whose squares vanish, or overflow, and ones that are real
      for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < n; ++j) at(a, 4, i, j) *= std::ldexp(Part<T>(1), (i + j) % 2 == 0 ? 70 : -70);
      at(positive, 4, n - 1, n - 1) = Limits::max() / 2;
    }
    if (count > 5)
      for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < n; ++j) at(a, 5, i, j) = std::real(at(a, 5, i, j));
  }
  T& at(std::vector<T>& x, Index k, Index i, Index j) const {
    return x[static_cast<std::size_t>(k * stride_a + i * lda + j)];
  }

  Index n, columns, count, lda, ldb, stride_a, stride_b;
  std::vector<T> a, b, positive;
  std::vector<Index> info, pivots;
};

/// What the tasks make of a case.
template <class T>
struct Results {
  std::vector<T> lu, lower, upper, solutions, turned, adjoint, positive, by_upper, by_lower, inverses;
  std::vector<Index> pivots, lu_info, lower_info, solve_info, positive_info, inverse_info;
};

template <class T>
Results<T> computed(const Case<T>& x, const SolveOptions& options) {
  Results<T> r{.lu = x.a,
               .lower = x.positive,
               .upper = x.positive,
               .solutions = x.b,
               .turned = x.b,
               .adjoint = x.b,
               .positive = x.b,
               .by_upper = x.b,
               .by_lower = x.b,
               .inverses = x.a,
               .pivots = x.pivots,
               .lu_info = x.info,
               .lower_info = x.info,
               .solve_info = x.info,
               .positive_info = x.info,
               .inverse_info = x.info};
  const auto& [n, columns, count] = std::tie(x.n, x.columns, x.count);
  lu_batch(n, n, r.lu.data(), x.lda, x.stride_a, r.pivots.data(), r.lu_info.data(), count, options);
  lu_solve_batch(Op::Transpose, n, columns, r.lu.data(), x.lda, x.stride_a, r.pivots.data(), r.turned.data(), x.ldb,
                 x.stride_b, count, options);
  lu_solve_batch(Op::ConjugateTranspose, n, columns, r.lu.data(), x.lda, x.stride_a, r.pivots.data(), r.adjoint.data(),
                 x.ldb, x.stride_b, count, options);
  solve_batch(n, columns, x.a.data(), x.lda, x.stride_a, r.solutions.data(), x.ldb, x.stride_b, r.solve_info.data(),
              count, options);
  inverse_batch(n, x.a.data(), x.lda, x.stride_a, r.inverses.data(), x.lda, x.stride_a, r.inverse_info.data(), count,
                options);
  cholesky_batch(Triangle::Lower, n, r.lower.data(), x.lda, x.stride_a, r.lower_info.data(), count, options);
  cholesky_batch(Triangle::Upper, n, r.upper.data(), x.lda, x.stride_a, r.lower_info.data(), count, options);
  solve_positive_batch(Triangle::Upper, n, columns, x.positive.data(), x.lda, x.stride_a, r.positive.data(), x.ldb,
                       x.stride_b, r.positive_info.data(), count, options);
  cholesky_solve_batch(Triangle::Upper, n, columns, r.upper.data(), x.lda, x.stride_a, r.by_upper.data(), x.ldb,
                       x.stride_b, count, options);
  cholesky_solve_batch(Triangle::Lower, n, columns, r.lower.data(), x.lda, x.stride_a, r.by_lower.data(), x.ldb,
                       x.stride_b, count, options);
  return r;
}

template <class T>
void expect_same(const Results<T>& x, const Results<T>& y) {
  BOOST_TEST(differing(x.lu, y.lu) == 0);
  BOOST_TEST(x.pivots == y.pivots, boost::test_tools::per_element());
  BOOST_TEST(x.lu_info == y.lu_info, boost::test_tools::per_element());
  BOOST_TEST(differing(x.turned, y.turned) == 0);
  BOOST_TEST(differing(x.adjoint, y.adjoint) == 0);
  BOOST_TEST(differing(x.solutions, y.solutions) == 0);
  BOOST_TEST(x.solve_info == y.solve_info, boost::test_tools::per_element());
  BOOST_TEST(differing(x.inverses, y.inverses) == 0);
  BOOST_TEST(x.inverse_info == y.inverse_info, boost::test_tools::per_element());
  BOOST_TEST(differing(x.lower, y.lower) == 0);
  BOOST_TEST(differing(x.upper, y.upper) == 0);
  BOOST_TEST(x.lower_info == y.lower_info, boost::test_tools::per_element());
  BOOST_TEST(differing(x.positive, y.positive) == 0);
  BOOST_TEST(x.positive_info == y.positive_info, boost::test_tools::per_element());
  BOOST_TEST(differing(x.by_upper, y.by_upper) == 0);
  BOOST_TEST(differing(x.by_lower, y.by_lower) == 0);
}

/// The options of the formulas.
const SolveOptions on_host{.backend = Backend::Reference};

/// Enqueues a task for systems that the case has on the device, at strides or by pointers.
template <class T>
void run_there(SystemsTask task, const Case<T>& x, const OnDevice<T>& a, const OnDevice<T>& b,
               const OnDevice<Index>& pivots, const OnDevice<Index>& info, bool by_pointers) {
  SystemsCall call{.task = task,
                   .columns = task == SystemsTask::Inverse ? x.n : x.columns,
                   .count = x.count,
                   .a = a.get(),
                   .lda = x.lda,
                   .stride_a = x.stride_a,
                   .b = b.get(),
                   .ldb = x.ldb,
                   .stride_b = x.stride_b,
                   .pivots = pivots.get(),
                   .pivot_stride = x.n,
                   .info = info.get()};
  std::vector<void*> all_a, all_b;
  for (Index k = 0; k < x.count; ++k) {
    all_a.push_back(a.get() + k * x.stride_a);
    all_b.push_back(b.get() + k * x.stride_b);
  }
  const OnDevice<void*> pointers_a(all_a), pointers_b(all_b);
  if (by_pointers) {
    call.a = call.b = nullptr;
    call.all_a = pointers_a.get();
    call.all_b = pointers_b.get();
  }
  run_systems<T>(device(), device().default_queue(), x.n, x.n, call);
  throw_if_failed(device().default_queue().synchronize());
}

} // namespace

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
      const Case<T> systems(draw, n, draw.index(1, 6), n > 64 ? 4 : draw.index(1, 40));
      expect_same(computed(systems, tested()), computed(systems, on_host));
    }
}

/// More systems than a launch's groups, in more pieces than one where the device is small.
BOOST_AUTO_TEST_CASE_TEMPLATE(many_systems, T, Numbers) {
  if (!has_panels()) return;
  Draw draw(2);
  for (const auto& [n, count] : {std::pair<Index, Index>{3, 5000}, {7, 1000}, {33, 40}}) BOOST_TEST_CONTEXT(n) {
      const Case<T> systems(draw, n, 1, count);
      expect_same(computed(systems, tested()), computed(systems, on_host));
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
        const Results<T> expected = computed(x, on_host);
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
                       by_factors.data(), x.ldb, x.stride_b, x.count, on_host);
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
                                                                              : conjugates    ? conjugated(value)
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
