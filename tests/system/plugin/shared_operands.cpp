/// Threads that share an operand on a small device, which a call of another thread takes away where the device lacks
/// memory, or which another device needs too. Each case runs in a process of its own.

#include <boost/test/unit_test.hpp>

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include <tessera/beyond_memory/row_blocks.hpp>
#include <tessera/gemm_batch.hpp>
#include <tessera/linear_algebra/lu.hpp>
#include <tessera/queue.hpp>
#include <tessera/user_kernel/make_view.hpp>

#include "small_device.hpp"
#include "support/short_of_memory.hpp"

using namespace tessera;
using tessera::test::device;
using tessera::test::Executors;
using tessera::test::Meeting;
using tessera::test::use_small_device;
using tessera::test::while_another_lacks_memory;
using tools::Kind;

namespace {

constexpr Index edge = 64;

Matrix<float> numbers(std::uint64_t seed) { return Matrix<float>::random(edge, edge, Seed{seed}); }
detail::Storage& storage_of(const Matrix<float>& x) { return *x.operand().storage; }

/// The elements that a view has, which a functor would read. The small device's memory is the host's.
Matrix<float> seen(const In<float>& x) {
  Matrix<float> elements(x.rows(), x.cols());
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < x.cols(); ++j) elements(i, j) = x(i, j);
  return elements;
}

/// Lets another thread work in the middle of the next operation of a kind on this thread.
class Interruption {
 public:
  Interruption(Kind kind, std::function<void()> other) : kind_(kind), other_(std::move(other)) {
    id_ = tools::register_tool({.name = "interruption",
                                .begin = [](const tools::Operation& operation,
                                            void* data) noexcept { static_cast<Interruption*>(data)->hear(operation); },
                                .data = this});
  }
  ~Interruption() { tools::unregister_tool(id_); }
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  void arm() { is_armed_ = true; }
  bool has_been() const { return has_been_; }

 private:
  void hear(const tools::Operation& operation) noexcept {
    if (operation.kind != kind_ || std::this_thread::get_id() != mine_ || !is_armed_ || has_been_.exchange(true))
      return;
    std::thread(other_).join();
  }

  const std::thread::id mine_ = std::this_thread::get_id();
  Kind kind_;
  std::function<void()> other_;
  std::atomic<bool> is_armed_ = false, has_been_ = false;
  tools::ToolId id_ = 0;
};

} // namespace

BOOST_AUTO_TEST_SUITE(shared_operands)

BOOST_AUTO_TEST_CASE(products_and_elements) {
  use_small_device();
  const Matrix<float> b = numbers(2);
  const auto check = [&](Kind kind, const auto& use) {
    const Matrix<float> a = numbers(1);
    const auto expected = use(numbers(1), Backend::Reference);
    while_another_lacks_memory(
        a, kind, [&](Meeting&) { BOOST_TEST((use(a, Backend::Cuda) == expected), "operation " << int(kind)); });
  };
  check(Kind::Product, [&](const Matrix<float>& a, Backend backend) { return gemm(a, b, backend); });
  check(Kind::Product, [&](const Matrix<float>& a, Backend backend) { return gemm(b, a, backend); });
  check(Kind::Product, [&](const Matrix<float>& a, Backend backend) {
    Matrix<float> c(edge, edge);
    gemm(1.0F, b, b, 0.0F, c, MatrixEpilogue<float>{.residual = a.view()}, {.backend = backend});
    return c;
  });
  check(Kind::Batch, [&](const Matrix<float>& a, Backend backend) {
    Matrix<float> c(edge, edge), d(edge, edge);
    const std::vector<detail::Operand> left{a.operand(), b.operand()}, right{b.operand(), a.operand()};
    const std::vector<detail::Operand> results{c.operand(), d.operand()};
    detail::gemm_batch(1, left, right, 0, results, {.backend = backend});
    return c - d;
  });
  check(Kind::ElementWise, [&](const Matrix<float>& a, Backend) { return a + b; });
  check(Kind::ElementWise, [&](const Matrix<float>& a, Backend) { return transpose(a); });
  check(Kind::ElementWise, [&](const Matrix<float>& a, Backend) { return matrix_cast<double>(a); });
  check(Kind::Reduction, [&](const Matrix<float>& a, Backend) { return a.sum_of_squares(); });
}

BOOST_AUTO_TEST_CASE(work_in_queues) {
  use_small_device();
  const Matrix<float> b = numbers(2);
  const auto check = [&](Kind kind, const auto& enqueue) {
    const Matrix<float> a = numbers(1);
    while_another_lacks_memory(a, kind, [&](Meeting&) {
      ExecutionQueue queue(device(0));
      Matrix<float> c = Matrix<float>::uninitialized(edge, edge); // to be filled would be an operation, too
      const Matrix<float> expected = enqueue(queue, a, c);
      queue.finish();
      BOOST_TEST((c == expected), "operation " << int(kind));
    });
  };
  check(Kind::Product, [&](ExecutionQueue& queue, const Matrix<float>& a, Matrix<float>& c) {
    gemm(queue, 1.0F, a, b, 0.0F, c);
    return gemm(a, b, Backend::Reference);
  });
  check(Kind::CopyWithin, [&](ExecutionQueue& queue, const Matrix<float>& a, Matrix<float>& c) {
    copy(c, a, queue);
    return numbers(1);
  });
  check(Kind::ElementWise, [&](ExecutionQueue& queue, const Matrix<float>& a, Matrix<float>& c) {
    copy(c, a.transposed(), queue);
    return transpose(numbers(1));
  });
  check(Kind::CopyOut, [&](ExecutionQueue& queue, const Matrix<float>& a, Matrix<float>& c) {
    copy_to_host(c, a, queue);
    return numbers(1);
  });
}

BOOST_AUTO_TEST_CASE(blocks_of_rows) {
  use_small_device();
  const Executors only{&device(0)};
  const Matrix<float> b = numbers(2);
  RowBlocks<float> right(only, edge, edge), c(only, edge, edge);
  right.assign(b);
  const auto check = [&](Kind kind, const auto& use) {
    RowBlocks<float> a(only, edge, edge);
    a.assign(numbers(1));
    storage_of(a.block(0)).leave_device();
    while_another_lacks_memory(a.block(0), kind, [&](Meeting&) { use(a); });
  };
  check(Kind::Product, [&](const RowBlocks<float>& a) {
    gemm(1.0F, a, right, 0.0F, c);
    BOOST_TEST((c.gathered() == gemm(numbers(1), b, Backend::Reference)));
  });
  check(Kind::Product, [&](const RowBlocks<float>& a) {
    gemm(1.0F, right, a, 0.0F, c);
    BOOST_TEST((c.gathered() == gemm(b, numbers(1), Backend::Reference)));
  });
  check(Kind::CopyOut, [&](const RowBlocks<float>& a) { BOOST_TEST((a.gathered() == numbers(1))); });
}

/// Systems with factors that several threads use: rows change places first, then the triangles are read.
BOOST_AUTO_TEST_CASE(triangles) {
  use_small_device();
  const Matrix<float> b = numbers(2), expected = Lu(numbers(5), {.backend = Backend::Reference}).solve(b);
  const Lu lu(numbers(5), {.backend = Backend::Cuda});
  for (const int nth : {1, 2, 3}) {
    storage_of(lu.packed()).leave_device();
    while_another_lacks_memory(
        lu.packed(), Kind::Panel, [&](Meeting&) { BOOST_TEST((lu.solve(b) == expected), "step " << nth); }, nth);
  }
}

/// A view has no end, so that its matrix stays: while another thread lacks memory, and while this one does.
BOOST_AUTO_TEST_CASE(views_stay) {
  use_small_device();
  const Matrix<float> a = numbers(1);
  while_another_lacks_memory(a, Kind::Verify, [&](Meeting& meeting) {
    const In<float> view = read(a, device(0));
    meeting.interrupt();
    BOOST_TEST((seen(view) == a));
  });
  const Lu lu(numbers(5), {.backend = Backend::Cuda});
  const In<float> factors = read(lu.packed(), device(0));
  const Matrix<float> wide = Matrix<float>::random(edge, 4000, Seed{3});
  BOOST_TEST((lu.solve(wide) == Lu(numbers(5), {.backend = Backend::Reference}).solve(wide)));
  BOOST_TEST((seen(factors) == lu.packed()));
}

/// A matrix whose elements the host gets while a product goes in parts may leave in spite of its old views.
BOOST_AUTO_TEST_CASE(results_leave_in_spite_of_views) {
  use_small_device();
  const Matrix<float> a = numbers(1), wide = Matrix<float>::random(edge, 2000, Seed{4});
  Matrix<float> c(edge, 2000, 1.0F);
  static_cast<void>(update(c, device(0)));
  gemm(1.0F, a, wide, 1.0F, c, {.backend = Backend::Cuda});
  Matrix<float> expected(edge, 2000, 1.0F);
  gemm(1.0F, a, wide, 1.0F, expected, {.backend = Backend::Reference});
  BOOST_TEST(c.operand().storage->resident_on() == nullptr);
  BOOST_TEST((c + c == expected + expected)); // on the device, if it still had its old elements
  BOOST_TEST((c == expected));
}

/// Two devices share an operand: the one that comes second must not take it away.
BOOST_AUTO_TEST_CASE(two_devices) {
  use_small_device();
  const Matrix<float> b = numbers(2);
  using Arm = std::function<void()>;
  const Arm none = [] {};
  const auto product_on = [&](Executor& executor, const Matrix<float>& a, const Arm& arm) {
    ExecutionQueue queue(executor);
    const Matrix<float> own(b);
    Matrix<float> c = Matrix<float>::uninitialized(edge, edge);
    arm();
    gemm(queue, 1.0F, a, own, 0.0F, c);
    queue.finish();
    return c;
  };
  const auto sum_on = [&](Executor& executor, const Matrix<float>& a, const Arm& arm) {
    Matrix<float> c(b);
    static_cast<void>(update(c, executor)); // so that the sum is computed there
    arm();
    return c + a;
  };
  const auto viewed_on = [](Executor& executor, const Matrix<float>& a, const Arm&) { return seen(read(a, executor)); };
  const auto check = [&](Kind kind, const auto& use, const auto& use_of_other, const Matrix<float>& expected,
                         const Matrix<float>& expected_of_other) {
    const Matrix<float> a = numbers(1);
    Matrix<float> found;
    Interruption interruption(kind, [&] { found = use_of_other(device(1), a, none); });
    const Matrix<float> own = use(device(0), a, [&] { interruption.arm(); });
    BOOST_TEST(interruption.has_been());
    BOOST_TEST((own == expected));
    BOOST_TEST((found == expected_of_other));
    BOOST_TEST((use_of_other(device(1), a, none) == expected_of_other)); // once more, by itself
    BOOST_TEST((a == numbers(1)));
  };
  const Matrix<float> product = gemm(numbers(1), b, Backend::Reference), total = numbers(1) + b;
  check(Kind::Product, product_on, product_on, product, product);
  check(Kind::Product, product_on, sum_on, product, total);
  check(Kind::Product, product_on, viewed_on, product, numbers(1));
  check(Kind::ElementWise, sum_on, sum_on, total, total);
  check(Kind::ElementWise, sum_on, product_on, total, product);
  check(Kind::ElementWise, sum_on, viewed_on, total, numbers(1));

  const Matrix<float> a = numbers(1);
  const In<float> view = read(a, device(0)); // products elsewhere leave it there
  BOOST_TEST((product_on(device(1), a, none) == product));
  BOOST_TEST((sum_on(device(1), a, none) == total));
  BOOST_TEST((seen(view) == a));
}

/// Whatever threads do with one operand where there is little memory, results are right or an error says that it lacks.
BOOST_AUTO_TEST_CASE(many_threads) {
  use_small_device();
  const Matrix<float> b = numbers(2), wide = Matrix<float>::random(edge, 2000, Seed{3});
  for (int round = 0; round < 10; ++round) {
    const Matrix<float> a = numbers(1);
    const Matrix<float> product = gemm(a, b, Backend::Reference), large = gemm(a, wide, Backend::Reference),
                        total = a + b;
    std::atomic<int> wrong = 0, right = 0, short_of_memory = 0;
    const auto note = [&](const Matrix<float>& x, const Matrix<float>& expected) { ++(x == expected ? right : wrong); };
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < 6; ++i) try {
            switch ((t + i) % 6) {
              case 0:
                note(gemm(a, Matrix<float>(wide), Backend::Cuda), large);
                break;
              case 1:
                note(a + Matrix<float>(b), total);
                break;
              default:
                ExecutionQueue queue(device(i % 2));
                Matrix<float> c(edge, edge);
                gemm(queue, 1.0F, a, Matrix<float>(b), 0.0F, c);
                queue.finish();
                note(c, product);
            }
          } catch (const OutOfMemory&) {
            ++short_of_memory;
          }
      });
    for (std::thread& thread : threads) thread.join();
    BOOST_TEST(wrong == 0);
    BOOST_TEST(right + short_of_memory == 24);
    BOOST_TEST(right > 0);
  }
}

BOOST_AUTO_TEST_SUITE_END()
